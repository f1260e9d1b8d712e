// T2: whoever asks for a lock after a grant is known gets a higher token than that grant.

#pragma once

#include "sim/world/history.h"

namespace holdfast::sim {

Violations check_token_order(const History& history);

}  // namespace holdfast::sim
