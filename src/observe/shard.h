// The counts of one thread, so that counting needs neither a lock nor an atomic step.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "observe/counts.h"

namespace holdfast::observe {

/// Belongs to one thread, and to another when that one has ended.
struct Shard {
  explicit Shard(std::uint64_t registry_in) : registry{registry_in} {}

  std::uint64_t registry;
  Counts counts;
  std::atomic<bool> taken{true};
};

/// The counts this thread used last.
struct LastUsed {
  std::uint64_t registry{0};
  Counts* counts{nullptr};
};
inline thread_local constinit LastUsed last_used{};
inline thread_local constinit bool thread_is_ending = false;

/// Every shard of a thread. Gives them back when it ends.
class ThreadShards {
 public:
  ThreadShards() = default;
  ~ThreadShards() {
    thread_is_ending = true;
    last_used = {};
    for (const auto& shard : shards_) shard->taken.store(false);
  }
  ThreadShards(const ThreadShards&) = delete;
  ThreadShards& operator=(const ThreadShards&) = delete;

  /// Empty: the thread has none of that registry.
  Shard* find(std::uint64_t registry) const {
    const auto is_its = [registry](const auto& shard) { return shard->registry == registry; };
    const auto found = std::ranges::find_if(shards_, is_its);
    return found == shards_.end() ? nullptr : found->get();
  }

  void add(std::shared_ptr<Shard> shard) {
    // Nobody reads those of registries that are gone.
    std::erase_if(shards_, [](const auto& known) { return known.use_count() == 1; });
    shards_.push_back(std::move(shard));
  }

 private:
  std::vector<std::shared_ptr<Shard>> shards_;
};

}  // namespace holdfast::observe
