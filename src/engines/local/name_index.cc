#include "engines/local/name_index.h"

#include <algorithm>
#include <optional>

namespace holdfast::local {

// The content of a bucket at one version.
struct NameIndex::Entries {
  Versioned version;
  std::vector<std::uint64_t> all;
  std::vector<Ref> dropped;
};

namespace {

// The slot's head at a moment when the slot had this name.
std::optional<Versioned> head_while_named(const Slot& slot, const NameKey& key) {
  Versioned head{slot.head.load(std::memory_order_acquire)};
  while (head.ref() != Slot::kRetired && key.matches(slot)) {
    const Versioned again{slot.head.load(std::memory_order_acquire)};
    if (again == head) return head;
    head = again;
  }
  return std::nullopt;
}

}  // namespace

Found NameIndex::find(const NameKey& key) {
  auto& bucket = file_.bucket(key.bucket());
  while (true) {
    const std::uint64_t seen = bucket.load(std::memory_order_acquire);
    for (Ref ref = Versioned{seen}.ref(); ref != 0;) {
      const Chunk& chunk = file_.at<Chunk>(ref);
      const std::uint32_t count = chunk.count.load(std::memory_order_relaxed);
      for (std::uint32_t i = 0; i < count && i < Chunk::kEntries; ++i) {
        const std::uint64_t entry = chunk.entries[i].load(std::memory_order_relaxed);
        if (Chunk::tag_of(entry) != key.tag()) continue;
        Slot& slot = file_.at<Slot>(Chunk::slot_of(entry));
        if (const auto head = head_while_named(slot, key)) {
          return {.slot = Chunk::slot_of(entry), .head = *head};
        }
      }
      ref = chunk.next.load(std::memory_order_acquire);
      if (bucket.load(std::memory_order_acquire) != seen) break;
    }
    if (bucket.load(std::memory_order_acquire) == seen) return {};
  }
}

NameIndex::Entries NameIndex::read(std::size_t index) {
  auto& bucket = file_.bucket(index);
  while (true) {
    Entries entries{.version = Versioned{bucket.load()}, .all = {}, .dropped = {}};
    bool stable = true;
    for (Ref ref = entries.version.ref(); ref != 0 && stable;) {
      const Chunk& chunk = file_.at<Chunk>(ref);
      const std::uint32_t count = std::min<std::uint32_t>(chunk.count.load(), Chunk::kEntries);
      for (std::uint32_t i = 0; i < count; ++i) entries.all.push_back(chunk.entries[i].load());
      ref = chunk.next.load();
      stable = bucket.load() == entries.version.raw;
    }
    if (stable && bucket.load() == entries.version.raw) return entries;
  }
}

void NameIndex::retire_idle(Entries& entries) {
  const bool full = entries.all.size() % Chunk::kEntries == 0 && !entries.all.empty();
  std::erase_if(entries.all, [&](std::uint64_t entry) {
    const Ref ref = Chunk::slot_of(entry);
    auto& word = file_.at<Slot>(ref).head;
    Versioned head{word.load()};
    if (full && head.ref() != 0 && head.ref() != Slot::kRetired) {
      sweep_(ref);
      head = Versioned{word.load()};
    }
    const bool idle = head.ref() == 0;
    if (idle && full && word.compare_exchange_strong(head.raw, head.next(Slot::kRetired).raw)) {
      head = head.next(Slot::kRetired);
    }
    if (head.ref() != Slot::kRetired) return false;
    entries.dropped.push_back(ref);
    return true;
  });
}

Result<Ref> NameIndex::write_chunks(const std::vector<std::uint64_t>& entries, Ref rest) {
  Ref first = rest;
  for (std::size_t at = 0; at < entries.size(); at += Chunk::kEntries) {
    auto ref = allocate(file_, Kind::chunk);
    if (!ref) {
      free_chunks(first, rest);
      return ref;
    }
    Chunk& chunk = file_.at<Chunk>(*ref);
    const std::size_t count = std::min(Chunk::kEntries, entries.size() - at);
    for (std::size_t i = 0; i < count; ++i) chunk.entries[i].store(entries[at + i]);
    chunk.count.store(static_cast<std::uint32_t>(count));
    chunk.next.store(first);
    first = *ref;
  }
  return first;
}

void NameIndex::free_chunks(Ref first, Ref end) {
  while (first != end) {
    const Ref next = file_.at<Chunk>(first).next.load();
    recycle(file_, Kind::chunk, first);
    first = next;
  }
}

// True when the bucket now leads to `slot`; false when it changed first.
Result<bool> NameIndex::publish(const NameKey& key, Entries& entries, Ref slot) {
  retire_idle(entries);
  const bool prepend = entries.dropped.empty() && entries.all.size() % Chunk::kEntries == 0;
  const Ref old = entries.version.ref();
  std::vector<std::uint64_t> written;
  if (!prepend) written = entries.all;
  written.push_back(Chunk::entry(key.tag(), slot));
  const Ref rest = prepend ? old : 0;
  const auto first = write_chunks(written, rest);
  if (!first) return Unexpected{first.error()};
  std::uint64_t expected = entries.version.raw;
  const std::uint64_t next = entries.version.next(*first).raw;
  if (!file_.bucket(key.bucket()).compare_exchange_strong(expected, next)) {
    free_chunks(*first, rest);
    return false;
  }
  free_chunks(old, rest);
  for (const Ref dropped : entries.dropped) {
    recycle(file_, slot_kind(file_.at<Slot>(dropped).name_bytes.load()), dropped);
  }
  return true;
}

Result<Found> NameIndex::find_or_add(const NameKey& key) {
  if (const Found place = find(key); place.slot != 0) return place;
  const Kind kind = slot_kind(key.name().size());
  const auto fresh = allocate(file_, kind);
  if (!fresh) return Unexpected{fresh.error()};
  Slot& slot = file_.at<Slot>(*fresh);
  key.store(slot);
  const Versioned empty = Versioned{slot.head.load()}.next(0);
  slot.head.store(empty.raw);
  while (true) {
    // Read before looking for the name: if somebody adds it in between, the version has changed.
    Entries entries = read(key.bucket());
    const Found place = find(key);
    auto published = place.slot != 0 ? Result<bool>{false} : publish(key, entries, *fresh);
    if (published && *published) return Found{.slot = *fresh, .head = empty};
    if (published && place.slot == 0) continue;
    slot.head.store(empty.next(Slot::kRetired).raw);
    recycle(file_, kind, *fresh);
    if (!published) return Unexpected{published.error()};
    return place;
  }
}

void NameIndex::for_each(const std::function<void(Ref, const std::string&)>& visit) {
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
    if (Versioned{file_.bucket(bucket).load()}.ref() == 0) continue;
    for (const std::uint64_t entry : read(bucket).all) {
      Slot& slot = file_.at<Slot>(Chunk::slot_of(entry));
      const Versioned head{slot.head.load()};
      if (head.ref() == Slot::kRetired || head.ref() == 0) continue;
      const std::string name = NameKey::load(slot);
      const bool stable = Versioned{slot.head.load()}.ref() != Slot::kRetired;
      if (stable) visit(Chunk::slot_of(entry), name);
    }
  }
}

}  // namespace holdfast::local
