// The clock leases are measured by.

#pragma once

#include <chrono>

namespace holdfast {

/// CLOCK_BOOTTIME: runs on while the machine sleeps and never jumps. Not the wall clock.
struct BootClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<BootClock, duration>;
  static constexpr bool is_steady = true;

  static time_point now() noexcept;
};

using TimePoint = BootClock::time_point;
using Duration = BootClock::duration;
using Millis = std::chrono::milliseconds;

}  // namespace holdfast
