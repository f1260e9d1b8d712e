// How long it takes from one process's release to another's having the lock.

#pragma once

#include "bench/sampling.h"
#include "holdfast/result.h"

namespace holdfast::bench {

struct HandOver {
  Timing holdfast;
  Timing robust_mutex;
};

/// Two processes, in turns by Holdfast and by a robust process-shared pthread mutex, the receiver
/// asleep each time.
Result<HandOver> time_hand_over();

}  // namespace holdfast::bench
