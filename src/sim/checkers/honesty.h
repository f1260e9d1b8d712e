// L2: a holder knows when its lease ends.
//
// It finds its lease good only while the lease stands, and hears of its expiry at the deadline, or,
// if it was paused then, as soon as it runs again. A request that leaves late because of a pause
// after the look at the lease is no lie: nobody can prevent it, and the fence is there for it. Of a
// look and bad news at the same instant either may have been first.

#pragma once

#include "sim/world/history.h"

namespace holdfast::sim {

Violations check_honesty(const History& history);

}  // namespace holdfast::sim
