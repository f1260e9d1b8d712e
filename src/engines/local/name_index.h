// From lock names to slots.
//
// A bucket is a versioned reference to chunks that never change: adding a name publishes a copy
// with one compare-and-swap, so that two processes cannot add the same name twice. Slots that
// nobody uses are retired when their bucket is full, and their memory serves other names.
//
// Thread safety: any thread of any process.

#pragma once

#include <functional>
#include <vector>

#include "engines/local/name_key.h"
#include "engines/local/pool.h"
#include "engines/local/state_file.h"

namespace holdfast::local {

/// A slot and the value of its head while it had the name that was looked up. A change of the slot,
/// retirement included, changes the head; so whoever swaps the head from this value has found the
/// right lock.
struct Found {
  Ref slot{0};
  Versioned head{};
};

class NameIndex {
 public:
  /// `sweep(slot)` takes out of a slot's queue what is over, so that the slot may become idle.
  NameIndex(StateFile& file, std::function<void(Ref)> sweep)
      : file_{file}, sweep_{std::move(sweep)} {}

  /// `slot` is 0 when nobody has used the name of late.
  Found find(const NameKey& key);

  /// Finds the name or adds it. no_space, io_error: the file cannot grow.
  Result<Found> find_or_add(const NameKey& key);

  /// Calls `visit(slot, name)` for every slot in use. Names added or retired meanwhile may be
  /// missed.
  void for_each(const std::function<void(Ref, const std::string&)>& visit);

 private:
  struct Entries;

  Entries read(std::size_t bucket);
  Result<bool> publish(const NameKey& key, Entries& entries, Ref slot);
  Result<Ref> write_chunks(const std::vector<std::uint64_t>& entries, Ref rest);
  void retire_idle(Entries& entries);
  void free_chunks(Ref first, Ref end);

  StateFile& file_;
  std::function<void(Ref)> sweep_;
};

}  // namespace holdfast::local
