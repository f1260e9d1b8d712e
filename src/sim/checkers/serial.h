// L3: the grants of a lock are those of a fenced mutex: there is a moment between call and return
// for each, such that in the order of these moments the tokens rise.
//
// The tokens fix the order, so taking the earliest moment possible for each decides it. The end of
// a tenure sets no bound: a lease may expire at any time.

#pragma once

#include "sim/world/history.h"

namespace holdfast::sim {

Violations check_serial(const History& history);

}  // namespace holdfast::sim
