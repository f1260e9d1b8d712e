// SimClock: what one clock of one machine shows, given true time: an offset, a rate and steps.
//
// Thread safety: none. Exact integer arithmetic: the same on every machine.

#pragma once

#include <cstdint>

#include "holdfast/clock.h"

namespace holdfast::sim {

/// How far a clock runs wrong, in parts per million: +10 000 is 1 % fast.
struct ClockRate {
  std::int64_t ppm{0};
};

class SimClock {
 public:
  explicit SimClock(Duration offset = {}) : shown_{offset} {}

  /// What it shows at a time not before the last change of rate.
  Duration at(TimePoint true_now) const {
    return shown_ + scaled(true_now - since_, kMillion + rate_.ppm, kMillion);
  }

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
    TimePoint time = since_ + scaled(local - shown_, kMillion, kMillion + rate_.ppm);
    while (at(time) < local) time += Duration{1};
    return time;
  }

 private:
  static constexpr std::int64_t kMillion = 1'000'000;

  static Duration scaled(Duration duration, std::int64_t by, std::int64_t of) {
    if (by == of) return duration;
    __extension__ using Wide = __int128;
    return Duration{static_cast<Duration::rep>(Wide{duration.count()} * by / of)};
  }

  TimePoint since_{};
  Duration shown_;
  ClockRate rate_{};
};

}  // namespace holdfast::sim
