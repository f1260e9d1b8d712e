// SpinGauge: whether one who waits for an answer should look for it a while before it sleeps.
//
// To put a thread to sleep and wake it costs more than a server nearby takes to answer; to look for
// what comes late is a waste. So it is done where it has paid of late: a counter that saturates, as
// processors predict branches. Where others want the processor, who looks and gives way waits for
// them, while one who sleeps is woken in time: then nobody looks for a good while.
//
// Thread safety: none.

#pragma once

#include <algorithm>

#include "holdfast/clock.h"
#include "holdfast/result.h"

namespace holdfast::runtime {

/// How long to look at the most, from HOLDFAST_SPIN_US; null: it is not set. Zero: never.
/// invalid_argument: it is not a number of microseconds from 0 to 10 000.
Result<Duration> longest_look(const char* text);

class SpinGauge {
 public:
  /// Looks for `most` at the most.
  explicit SpinGauge(Duration most) : most_{most} {}

  Duration most() const { return most_; }

  /// Who gave way and came back so late was in others' way.
  static constexpr Duration kCrowded{std::chrono::microseconds{500}};

  bool pays() const { return short_waits_ >= 2 && asleep_for_ == 0 && most_ > Duration{0}; }

  /// Looking for it has found it, or was in vain.
  void found() { short_waits_ = std::min(short_waits_ + 1, 3); }
  void missed() { short_waits_ = std::max(short_waits_ - 1, 0); }

  /// Nobody looked: it came after that time, of which some went into waking up.
  void slept(Duration time) {
    constexpr Duration kWaking{std::chrono::microseconds{50}};
    time <= most_ + kWaking ? found() : missed();
    asleep_for_ = std::max(asleep_for_ - 1, 0);
  }

  /// Others want the processor.
  void crowded() { asleep_for_ = 1'000; }

 private:
  Duration most_;
  int short_waits_{0};
  /// So many waits are slept through whatever they are like.
  int asleep_for_{0};
};

}  // namespace holdfast::runtime
