// Tokens of one lock never repeat, and whoever asks after a grant is known gets a higher one.
//
// It holds through pauses, lost messages and servers that lose their data, as long as the server's
// clock does not go back.

#pragma once

#include "sim/history.h"

namespace holdfast::sim {

Violations check_token_order(const History& history);

}  // namespace holdfast::sim
