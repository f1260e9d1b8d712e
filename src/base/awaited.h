// Awaited: something a task of an Env will make known to threads that block for it.
//
// Thread safety: any thread. Lifetime: shared by those who wait and the one who makes it known, who
// is not done with it when they know.

#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "holdfast/clock.h"

namespace holdfast {

class Awaited {
 public:
  bool is_known() const { return known_.load(std::memory_order_acquire); }

  /// Sleeps until it is known, until `limit`, or until rouse(). Whether it is known.
  bool sleep_until(TimePoint limit);

  /// Ends the sleep of who waits for it, now or later, although it is not known.
  void rouse();

  /// Counts one waiting thread in `count` from now until it is known or count_out() is called;
  /// only the first of several. `count` outlives that.
  void count_in(std::atomic<int>& count);
  void count_out();

 protected:
  Awaited() = default;
  ~Awaited() = default;
  Awaited(const Awaited&) = delete;
  Awaited& operator=(const Awaited&) = delete;

  /// Makes it known by `tell`, unless it is.
  template <class Tell>
  void make_known(Tell tell) {
    {
      const std::lock_guard lock{mutex_};
      if (is_known()) return;
      tell();
      known_.store(true, std::memory_order_release);
      stop_counting();
      if (sleepers_ == 0) return;
    }
    wake_.notify_all();
  }

 private:
  void stop_counting();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<bool> known_{false};
  int sleepers_{0};
  bool roused_{false};
  std::atomic<int>* counted_in_{nullptr};
};

}  // namespace holdfast
