// G2: what the resource accepted under one token stands together in its log and begins with an
// open, so that each critical section is atomic. Operations without a token are not judged.

#pragma once

#include "sim/world/history.h"

namespace holdfast::sim {

Violations check_blocks(const History& history);

}  // namespace holdfast::sim
