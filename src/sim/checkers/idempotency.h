// Asked again by the same owner, the server mints no second token while the first grant stands.

#pragma once

#include <vector>

#include "sim/history.h"
#include "sim/redis_node.h"

namespace holdfast::sim {

/// `executions` as the server ran them, in order.
Violations check_idempotency(const std::vector<Execution>& executions);

}  // namespace holdfast::sim
