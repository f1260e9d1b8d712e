// Waiting for things to become true, with a bound that only a defect reaches.

#pragma once

#include <poll.h>

#include <chrono>

#include "holdfast/clock.h"

namespace holdfast::contract {

inline constexpr std::chrono::seconds kPatience{30};

/// Whether the condition became true in time. For conditions that nothing announces.
template <class Condition>
bool eventually(Condition condition) {
  const TimePoint limit = BootClock::now() + kPatience;
  while (!condition()) {
    if (BootClock::now() > limit) return false;
    poll(nullptr, 0, 1);
  }
  return true;
}

}  // namespace holdfast::contract
