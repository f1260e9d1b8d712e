// DeadlineWatch: calls back once a deadline that may move has passed, on a thread of its own.
//
// Thread safety: any thread. Lifetime: nothing is called after its end, which waits for a call
// under way unless that is what ends it. In a forked child it does nothing.

#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>

#include "base/dispatcher.h"
#include "holdfast/clock.h"

namespace holdfast::recipes {

class DeadlineWatch {
 public:
  /// `deadline` is asked again whenever what it said has come.
  DeadlineWatch(std::function<TimePoint()> deadline, std::function<void()> on_passed);
  ~DeadlineWatch();
  DeadlineWatch(const DeadlineWatch&) = delete;
  DeadlineWatch& operator=(const DeadlineWatch&) = delete;

 private:
  struct Shared {
    std::function<TimePoint()> deadline;
    std::function<void()> on_passed;
    std::mutex mutex;
    std::condition_variable over_changed;
    bool over{false};
  };

  static void watch(Shared& shared);

  std::uint32_t generation_;
  std::shared_ptr<Shared> shared_;
  Dispatcher thread_;
};

}  // namespace holdfast::recipes
