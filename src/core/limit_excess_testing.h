// How far the use of a rate limit went beyond its rate.

#pragma once

#include <algorithm>
#include <vector>

#include "holdfast/clock.h"

namespace holdfast::core {

/// The largest excess of use over what the rate gives, over all times between two uses: as the time
/// in which the rate gives it. `interval`: in which one permit comes back.
inline Duration largest_excess(std::vector<TimePoint> uses, Duration interval) {
  std::ranges::sort(uses);
  Duration worst{0};
  Duration lowest{Duration::max()};
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const Duration used_before = interval * static_cast<std::int64_t>(i);
    const Duration at = uses[i].time_since_epoch();
    lowest = std::min(lowest, used_before - at);
    worst = std::max(worst, used_before + interval - at - lowest);
  }
  return worst;
}

}  // namespace holdfast::core
