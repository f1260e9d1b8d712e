// When a program is told to end, and when it is killed: arithmetic only.

#pragma once

#include <algorithm>
#include <chrono>

#include "holdfast/clock.h"

namespace holdfast::cli {

/// Between TERM and KILL when there is no time to lose: the lease is gone or nobody renews it.
inline constexpr Duration kAbruptGrace = std::chrono::milliseconds{80};

struct WindDown {
  TimePoint term_at;
  TimePoint kill_at;
};

/// TERM at deadline - min(grace, ttl/3). KILL so much before the deadline that the group is gone
/// when it comes: a tenth of the TTL, between 10 and 100 ms.
constexpr WindDown plan_wind_down(TimePoint deadline, Duration ttl, Duration grace) {
  using std::chrono::milliseconds;
  const Duration margin = std::clamp<Duration>(ttl / 10, milliseconds{10}, milliseconds{100});
  const TimePoint kill_at = deadline - margin;
  return {std::min(deadline - std::min(grace, ttl / 3), kill_at), kill_at};
}

}  // namespace holdfast::cli
