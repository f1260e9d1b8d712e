// SharedDeadline: until when a lease stands, for threads that must not wait for its keeper.
//
// The keeper moves it at every acknowledged renewal; anybody may look. Whoever finds it passed ends
// it: no later renewal moves it, so that what was once seen as lost is never seen as held again.
//
// Thread safety: any thread; never blocks.

#pragma once

#include <atomic>

#include "holdfast/clock.h"

namespace holdfast::core {

class SharedDeadline {
 public:
  explicit SharedDeadline(TimePoint until) : until_{until} {}
  SharedDeadline(const SharedDeadline&) = delete;
  SharedDeadline& operator=(const SharedDeadline&) = delete;

  /// TimePoint{} once it has been found passed.
  TimePoint until() const {
    const TimePoint known = until_.load();
    return known == kPassed ? TimePoint{} : known;
  }

  /// Whether it has passed by `now`. Once true, it stays so.
  bool has_passed(TimePoint now) {
    TimePoint known = until_.load();
    while (known != kPassed) {
      if (now < known) return false;
      if (until_.compare_exchange_weak(known, kPassed)) return true;
    }
    return true;
  }

  /// Moves it to `later`, never back. False: somebody has found it passed.
  bool extend_to(TimePoint later) {
    TimePoint known = until_.load();
    while (known != kPassed) {
      if (later <= known || until_.compare_exchange_weak(known, later)) return true;
    }
    return false;
  }

 private:
  static constexpr TimePoint kPassed = TimePoint::min();

  std::atomic<TimePoint> until_;
};

}  // namespace holdfast::core
