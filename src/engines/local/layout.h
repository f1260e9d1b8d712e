// The layout of the local engine's state file. docs/internals/local.md tells how it is used.
//
// Everything is addressed by Ref, the offset in units of 64 bytes; 0 is "none". Memory is
// type-stable: what was once a slot is only ever a slot again, so that a reader who comes late
// finds a versioned word where it expects one. Every word that two processes touch is an atomic.

#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace holdfast::local {

using Ref = std::uint32_t;

inline constexpr std::size_t kUnit = 64;
inline constexpr std::uint64_t kRefBits = 28;
inline constexpr std::uint64_t kRefMask = (std::uint64_t{1} << kRefBits) - 1;
inline constexpr std::uint64_t kFileBytesMax = kUnit << kRefBits;

/// A Ref and a version in one word: what every compare-and-swap of a list head is on.
struct Versioned {
  std::uint64_t raw{0};

  static constexpr Versioned of(Ref ref, std::uint64_t version) {
    return {version << kRefBits | ref};
  }
  constexpr Ref ref() const { return static_cast<Ref>(raw & kRefMask); }
  constexpr std::uint64_t version() const { return raw >> kRefBits; }
  constexpr Versioned next(Ref ref) const { return of(ref, version() + 1); }
  friend constexpr bool operator==(Versioned, Versioned) = default;
};

/// Why a contender is out of the queue; it stays so until its record is used again.
enum class Mark : std::uint8_t { none, left, expired, broken };

/// What a contender's record is being used for: its generation, whether the lease is detached, the
/// mark, and whether it is in use, that is, reachable or about to be. Marking swaps this word, so
/// it can only hit the generation it was meant for, and only what is still as it was judged.
struct Place {
  std::uint64_t raw{0};

  constexpr std::uint64_t generation() const { return raw >> 4; }
  constexpr bool detached() const { return (raw & 8) != 0; }
  constexpr Mark mark() const { return static_cast<Mark>(raw >> 1 & 3); }
  constexpr bool in_use() const { return (raw & 1) != 0; }
  constexpr Place marked(Mark mark) const { return {raw | static_cast<std::uint64_t>(mark) << 1}; }
  constexpr Place as_detached() const { return {raw | 8}; }
  constexpr Place handed_back() const { return {raw & ~std::uint64_t{1}}; }
  constexpr Place next_use() const { return {(generation() + 1) << 4 | 1}; }
  friend constexpr bool operator==(Place, Place) = default;
};

/// The next older contender and the generation of its record. The link of a marked contender is
/// frozen before the contender is taken off the list, and does not change any more. Until its
/// contender has entered a link is unpublished, and nobody else may change it either.
struct Link {
  static constexpr std::uint64_t kGenerationMask = (std::uint64_t{1} << 34) - 1;
  static constexpr std::uint64_t kFrozen = 1;
  static constexpr std::uint64_t kUnpublished = 2;

  std::uint64_t raw{0};

  static constexpr Link to(Ref older, Place place) {
    return {(place.generation() & kGenerationMask) << 30 | std::uint64_t{older} << 2};
  }
  constexpr Ref ref() const { return static_cast<Ref>(raw >> 2 & kRefMask); }
  constexpr bool leads_to(Place place) const {
    return raw >> 30 == (place.generation() & kGenerationMask);
  }
  constexpr Link unpublished() const { return {raw | kUnpublished}; }
  constexpr bool frozen() const { return (raw & kFrozen) != 0; }
  constexpr Link freeze() const { return {raw | kFrozen}; }
  constexpr Link thaw() const { return {raw & ~(kFrozen | kUnpublished)}; }
};

/// A right that ends at a deadline unless its keeper moves it: of a session, or of one detached
/// lease. The deadline in nanoseconds and, in the lowest bit, "expired": one word, so that nobody
/// can believe a deadline that was not confirmed.
struct Lifeline {
  std::atomic<std::uint64_t> word;
};

/// One process attached to the file. `life` is a robust futex, 0 while the record is free: the
/// kernel marks it when the process dies, however it dies.
struct alignas(kUnit) Member {
  static constexpr std::size_t kHostBytes = 64;

  std::atomic<std::uint32_t> life;
  std::atomic<std::uint32_t> mail;
  std::atomic<std::uint32_t> pid;
  std::atomic<Ref> next;
  std::atomic<Ref> blocks;
  std::atomic<Ref> sessions;
  std::array<std::atomic<char>, kHostBytes> host;
};

/// The liveness of one member for leases of one TTL. `epoch` changes each time the record is used.
struct alignas(kUnit) Session {
  Lifeline lifeline;
  std::atomic<std::int64_t> ttl_ns;
  std::atomic<std::uint32_t> epoch;
  std::atomic<Ref> member;
  std::atomic<Ref> next;
};

/// One request for a lock: waiting or holding. The oldest unmarked live ones hold.
struct alignas(kUnit) Contender {
  enum : std::uint32_t { kWaiting = 0, kHolding = 1 };

  std::atomic<std::uint64_t> link;
  std::atomic<std::uint64_t> place;
  std::atomic<std::uint64_t> token;
  std::atomic<std::uint64_t> claim;
  std::atomic<Ref> session;  // unless detached
  std::atomic<std::uint32_t> session_epoch;
  std::atomic<Ref> member;
  std::atomic<Ref> slot;
  std::atomic<Ref> newer;  // a hint only: who entered behind
  std::atomic<std::uint32_t> signal;
  std::atomic<std::uint32_t> phase;
  std::atomic<Ref> note;
  std::array<std::atomic<std::uint64_t>, 2> owner;
  Lifeline lifeline;
  std::atomic<std::int64_t> since_ns;
  std::atomic<std::int64_t> delay_until_ns;
  std::atomic<std::uint32_t> ttl_ms;
  std::atomic<std::uint32_t> lock_delay_ms;
  std::atomic<Ref> next_free;
  std::atomic<std::uint32_t> pid;
};
static_assert(sizeof(Contender) == 2 * kUnit);

/// Contenders of one member, allocated together.
struct alignas(kUnit) Block {
  static constexpr std::size_t kContenders = 16;

  std::atomic<Ref> next;
  std::array<Contender, kContenders> contenders;
};

/// A lock name in use. `head` is the newest contender; kRetired: the name has left the index.
struct alignas(kUnit) Slot {
  static constexpr Ref kRetired = static_cast<Ref>(kRefMask);
  static constexpr std::size_t kHeadBytes = 24;

  std::atomic<std::uint64_t> head;
  std::atomic<std::uint64_t> hash;
  std::atomic<std::uint32_t> name_bytes;
  std::atomic<Ref> next_free;

  char* name() { return reinterpret_cast<char*>(this) + kHeadBytes; }
  const char* name() const { return reinterpret_cast<const char*>(this) + kHeadBytes; }
};

/// Part of a bucket of the index: slots with the upper half of their hash. Never changed once
/// published; a change publishes a copy.
struct alignas(kUnit) Chunk {
  static constexpr std::size_t kEntries = 7;

  std::atomic<Ref> next;
  std::atomic<std::uint32_t> count;
  std::array<std::atomic<std::uint64_t>, kEntries> entries;  // tag << 32 | slot

  static constexpr std::uint64_t entry(std::uint32_t tag, Ref slot) {
    return std::uint64_t{tag} << 32 | slot;
  }
  static constexpr Ref slot_of(std::uint64_t entry) { return static_cast<Ref>(entry); }
  static constexpr std::uint32_t tag_of(std::uint64_t entry) {
    return static_cast<std::uint32_t>(entry >> 32);
  }
};
static_assert(sizeof(Chunk) == kUnit);

/// Host, label and trace id of a contender, one after the other.
struct alignas(kUnit) Note {
  static constexpr std::size_t kHeadBytes = 16;

  std::atomic<Ref> next_free;
  std::atomic<std::uint32_t> units;
  std::atomic<std::uint16_t> host_bytes;
  std::atomic<std::uint16_t> label_bytes;
  std::atomic<std::uint16_t> trace_bytes;

  char* text() { return reinterpret_cast<char*>(this) + kHeadBytes; }
};

/// Kinds of memory, each with its own free list. Slots and notes come in sizes of 1, 2, 4 … units.
enum class Kind : std::uint32_t {
  chunk,
  session,
  member,
  block,
  commons,
  slot_1,
  slot_2,
  slot_4,
  slot_8,
  slot_16,
  note_1,
  note_2,
  note_4,
  note_8,
  note_16,
  note_32,
  note_64,
  note_128,
  count,
};

inline constexpr std::size_t kKinds = static_cast<std::size_t>(Kind::count);
inline constexpr std::size_t kBuckets = std::size_t{1} << 15;

struct Header {
  static constexpr std::array<char, 8> kMagic{'H', 'O', 'L', 'D', 'F', 'A', 'S', 'T'};
  static constexpr std::uint32_t kVersion = 1;

  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t header_bytes;
  std::array<std::uint8_t, 16> identity;
  std::array<char, 40> boot_id;
  std::uint64_t time_namespace;
  /// 0 while the only process attached rebuilds the rest of the file.
  std::atomic<std::uint32_t> ready;

  alignas(kUnit) std::atomic<std::uint64_t> next_token;
  /// Tokens below it may be given out: the limit has reached the disk.
  alignas(kUnit) std::atomic<std::uint64_t> token_limit;
  /// The limit on its way to the disk. The first process after a crash begins above it.
  std::atomic<std::uint64_t> token_limit_written;
  std::atomic<std::uint64_t> pace_token;
  std::atomic<std::int64_t> pace_ns;
  std::atomic<std::uint64_t> token_block;

  /// Somebody watches until then: tell them of changes.
  alignas(kUnit) std::atomic<std::int64_t> watched_until_ns;
  std::atomic<std::uint32_t> changes;

  alignas(kUnit) std::atomic<std::uint64_t> end_bytes;  // allocated
  std::atomic<std::uint64_t> file_bytes;                // backed by the file
  std::atomic<Ref> members;
  std::array<std::atomic<std::uint64_t>, kKinds> free_lists;
};

inline constexpr std::size_t kHeaderBytes = 4096;
static_assert(sizeof(Header) <= kHeaderBytes);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

inline constexpr std::size_t kIndexBytes = kBuckets * sizeof(std::uint64_t);
inline constexpr std::uint64_t kHeapBegin = kHeaderBytes + kIndexBytes;
inline constexpr std::uint64_t kFileBytesInitial = kHeapBegin + (std::size_t{64} << 10);

}  // namespace holdfast::local
