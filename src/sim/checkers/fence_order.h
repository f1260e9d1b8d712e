// G1: what the fenced resource accepts rises in (token, sequence), reads and opens included, and
// it refuses only what does not.
//
// A read without a number (sequence 0) changes nothing and is judged by its token alone. A repeated
// message may be accepted again without effect: the last numbered operation of the highest token,
// and the open of that token at any time. Operations without a token are not judged.

#pragma once

#include "sim/world/history.h"

namespace holdfast::sim {

Violations check_fence_order(const History& history);

}  // namespace holdfast::sim
