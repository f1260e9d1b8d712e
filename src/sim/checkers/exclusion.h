// No two clients believe at the same time that they hold the same lock.
//
// It holds while the server's clock is true within 1 % and the server keeps its data, however
// clients pause and messages fare: every belief ends at a deadline of its own.

#pragma once

#include "sim/history.h"

namespace holdfast::sim {

Violations check_exclusion(const History& history);

}  // namespace holdfast::sim
