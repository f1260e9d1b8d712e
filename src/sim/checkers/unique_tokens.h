// T1: no two grants of a lock carry the same token.

#pragma once

#include "sim/world/history.h"

namespace holdfast::sim {

Violations check_unique_tokens(const History& history);

}  // namespace holdfast::sim
