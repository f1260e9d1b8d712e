// G3: the resource is a register. Its log, replayed, gives what every read found, and what was
// acknowledged or refused was accepted or refused between sending and answer, in an order that
// respects time.

#pragma once

#include "sim/world/history.h"

namespace holdfast::sim {

Violations check_replay(const History& history);

}  // namespace holdfast::sim
