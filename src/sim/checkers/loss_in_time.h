// A client that runs hears of the end of its lease at the very deadline; one that was paused hears
// of it as soon as it runs again. A lease is lost for no other reason than its deadline while the
// server keeps its data.

#pragma once

#include "sim/history.h"
#include "sim/redis_node.h"

namespace holdfast::sim {

Violations check_loss_in_time(const History& history, Data data);

}  // namespace holdfast::sim
