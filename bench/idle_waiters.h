// What waiting costs while nothing happens.

#pragma once

#include "holdfast/result.h"

namespace holdfast::bench {

inline constexpr int kIdleWaiters = 1'000;

struct IdleCost {
  double cpu_seconds{0};
  double wall_seconds{0};
};

/// Processor time of a process in which 1 000 threads wait for one lock, over two seconds.
Result<IdleCost> time_idle_waiters();

}  // namespace holdfast::bench
