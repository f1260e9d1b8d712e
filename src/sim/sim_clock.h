// SimClock: what one clock of one machine shows, given true time: an offset, a rate and steps.
//
// Thread safety: none. Exact integer arithmetic: the same on every machine.

#pragma once

#include <cstdint>

#include "holdfast/clock.h"

namespace holdfast::sim {

/// How far a clock runs wrong, in parts per million: +10 000 is 1 % fast. At most half as fast
/// again or half as slow.
struct ClockRate {
  std::int64_t ppm{0};
};

class SimClock {
 public:
  explicit SimClock(Duration offset = {}) : shown_{offset} {}

  /// What it shows at a time not before the last change of rate.
  Duration at(TimePoint true_now) const { return shown_ + scaled(true_now - since_); }

  /// Runs at the new rate from now on; what it shows does not jump.
  void set_rate(TimePoint true_now, ClockRate rate) {
    shown_ = at(true_now);
    since_ = true_now;
    rate_ = rate;
  }

  /// Moves it at once.
  void step(Duration by) { shown_ += by; }

  /// The first time at which it shows `local` or more, unless it is changed before.
  TimePoint when(Duration local) const {
    // Each correction leaves a fraction of the error, and rounding the last nanoseconds.
    constexpr Duration kClose{4};
    TimePoint time = since_ + (local - shown_);
    for (Duration error = local - at(time); error > kClose || error < -kClose;
         error = local - at(time)) {
      time += error;
    }
    while (at(time - Duration{1}) >= local) time -= Duration{1};
    while (at(time) < local) time += Duration{1};
    return time;
  }

 private:
  static constexpr std::int64_t kMillion = 1'000'000;

  Duration scaled(Duration duration) const {
    const std::int64_t count = duration.count();
    return Duration{count + count / kMillion * rate_.ppm + count % kMillion * rate_.ppm / kMillion};
  }

  TimePoint since_{};
  Duration shown_;
  ClockRate rate_{};
};

}  // namespace holdfast::sim
