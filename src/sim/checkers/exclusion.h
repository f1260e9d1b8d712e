// L1: a lock has one holder at a time, each counted while it may believe that it holds the lock.

#pragma once

#include <array>
#include <cstdint>

#include "sim/world/history.h"

namespace holdfast::sim {

struct Exclusion {
  /// Two holders at once, and no fault that excuses it.
  Violations violations;
  /// How often two held a lock at once because of a fault of each class.
  std::array<std::uint64_t, kFaultClasses> breaches{};
};

/// Two holders at once are put down to the latest fault that may break exclusion, began before the
/// second of them heard of its grant, and was not over when the first of them asked for the lock:
/// one that was paused may hear of its grant long after. A slow clock excuses its own client only.
Exclusion check_exclusion(const History& history);

}  // namespace holdfast::sim
