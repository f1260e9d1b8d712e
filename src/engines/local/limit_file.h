// The file of the local engine's rate limits, mapped into this process: a table of how far ahead
// keys are.
//
// As the state file, any number of processes map it, and whoever finds itself alone begins it anew
// after a reboot: its times are of the boot-time clock.
//
// Thread safety: every member may be called from any thread.
// Lifetime: slots stay valid as long as the LimitFile.

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/unique_fd.h"
#include "holdfast/result.h"

namespace holdfast::local {

/// A key by its hash, and the boot time at which it has its whole burst back, in nanoseconds. One
/// compare-and-swap of 16 bytes changes both, so that a slot never has the time of another key.
struct alignas(16) LimitSlot {
  std::uint64_t key;
  std::uint64_t full_at_ns;

  friend bool operator==(const LimitSlot&, const LimitSlot&) = default;
};

class LimitFile {
 public:
  static constexpr std::size_t kBucketSlots = 4;
  static constexpr std::size_t kBuckets = std::size_t{1} << 16;

  /// Opens or creates `<directory>/limits`, 4 MiB. Fails as StateFile::open.
  static Result<std::unique_ptr<LimitFile>> open(const std::string& directory);

  ~LimitFile();
  LimitFile(const LimitFile&) = delete;
  LimitFile& operator=(const LimitFile&) = delete;

  /// The first of a bucket's slots; buckets go round.
  LimitSlot* bucket(std::uint64_t index) { return slots_ + index % kBuckets * kBucketSlots; }

  const std::string& path() const { return path_; }

 private:
  struct Header {
    static constexpr std::array<char, 8> kMagic{'H', 'O', 'L', 'D', 'R', 'A', 'T', 'E'};
    static constexpr std::uint32_t kVersion = 1;

    std::array<char, 8> magic;
    std::uint32_t version;
    std::uint32_t header_bytes;
    std::array<char, 40> boot_id;
    std::uint64_t time_namespace;
    /// 0 while the only process attached empties the table.
    std::atomic<std::uint32_t> ready;
  };
  static constexpr std::size_t kHeaderBytes = 4096;
  static constexpr std::size_t kFileBytes =
      kHeaderBytes + kBuckets * kBucketSlots * sizeof(LimitSlot);

  LimitFile(std::string path, UniqueFd fd, char* base)
      : path_{std::move(path)},
        fd_{std::move(fd)},
        base_{base},
        slots_{reinterpret_cast<LimitSlot*>(base + kHeaderBytes)} {}

  Header& header() { return *reinterpret_cast<Header*>(base_); }
  Result<void> prepare_alone(std::uint64_t size);
  Result<void> join(std::uint64_t size);
  Result<void> check_header(std::uint64_t size);
  Result<void> empty();

  std::string path_;
  UniqueFd fd_;
  char* base_;
  LimitSlot* slots_;
};

}  // namespace holdfast::local
