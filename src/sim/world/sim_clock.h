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

/// What a wall clock shows: the time since 1970.
using WallTime = std::chrono::microseconds;

/// What wall clocks show when a world begins, but for their offsets: some day in 2026.
inline constexpr WallTime kWallEpoch{1'770'000'000'000'000};

class SimClock {
 public:
  explicit SimClock(Duration offset = {}) : shown_{offset} {}

  /// What it shows at a time not before the last change of rate.
  Duration at(TimePoint true_now) const { return shown_ + scaled(true_now - since_, rate_); }

  /// Runs at the new rate from now on; what it shows does not jump.
  void set_rate(TimePoint true_now, ClockRate rate) {
    shown_ = at(true_now);
    since_ = true_now;
    rate_ = kOne + rate.ppm * (kOne / kMillion);
    inverse_ = static_cast<std::int64_t>(Wide{kOne} * kOne / rate_);
  }

  /// Moves it at once.
  void step(Duration by) { shown_ += by; }

  /// The first time at which it shows `local` or more, unless it is changed before.
  TimePoint when(Duration local) const {
    TimePoint time = since_ + scaled(local - shown_, inverse_);
    while (at(time - Duration{1}) >= local) time -= Duration{1};
    while (at(time) < local) time += Duration{1};
    return time;
  }

 private:
  __extension__ using Wide = __int128;

  static constexpr std::int64_t kMillion = 1'000'000;
  /// Rates are fractions of this, a power of two, so that no clock needs a division to be read.
  static constexpr int kBits = 60;
  static constexpr std::int64_t kOne = std::int64_t{1} << kBits;

  static Duration scaled(Duration duration, std::int64_t rate) {
    constexpr Wide kHalf = kOne / 2;
    return Duration{static_cast<Duration::rep>((Wide{duration.count()} * rate + kHalf) >> kBits)};
  }

  TimePoint since_{};
  Duration shown_;
  std::int64_t rate_{kOne};
  std::int64_t inverse_{kOne};
};

}  // namespace holdfast::sim
