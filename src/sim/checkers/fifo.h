// Q1: the requests of one process for one lock are answered in the order they were made, but for
// those that timed out.

#pragma once

#include "sim/world/history.h"

namespace holdfast::sim {

Violations check_fifo(const History& history);

}  // namespace holdfast::sim
