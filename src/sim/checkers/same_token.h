// T3: a server that is asked again for an owner whose grant stands gives the same token again.
//
// The steps of a server are judged in the order of the history.

#pragma once

#include "sim/world/history.h"

namespace holdfast::sim {

Violations check_same_token(const History& history);

}  // namespace holdfast::sim
