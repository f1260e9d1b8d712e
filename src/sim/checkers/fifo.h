// Q1: no request of a process for a lock is granted while an earlier one of the same process still
// waits, but for those that timed out.

#pragma once

#include "sim/world/history.h"

namespace holdfast::sim {

Violations check_fifo(const History& history);

}  // namespace holdfast::sim
