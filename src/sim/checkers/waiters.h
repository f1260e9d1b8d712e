// No waiter is forgotten: in a world that healed, every request has been answered at the end, and
// those made since it healed have been granted. Judges nothing in a world that did not heal.

#pragma once

#include "sim/world/history.h"

namespace holdfast::sim {

Violations check_waiters(const History& history);

}  // namespace holdfast::sim
