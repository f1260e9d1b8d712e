// Gathering: where one task waits for several answers that come on other threads.
//
// Thread safety: arrive() on any thread; the rest is the waiting task's. Lifetime: shared by the
// task and those who answer. The context of the task's executor outlives the task.

#pragma once

#include <cstddef>
#include <mutex>
#include <optional>

#include "base/parked.h"

namespace holdfast::recipes {

class Gathering {
 public:
  explicit Gathering(std::size_t expected) : missing_{expected} {}
  Gathering(const Gathering&) = delete;
  Gathering& operator=(const Gathering&) = delete;

  /// One of those expected is here.
  void arrive();

  /// Awaited once, ends when all are here, and done with the executor of the task: its context may
  /// end with the task.
  Task<void> all_here();

 private:
  void park(Parked task);

  std::mutex mutex_;
  std::size_t missing_;
  std::optional<Parked> waiting_;
};

}  // namespace holdfast::recipes
