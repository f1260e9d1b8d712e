// How long it takes from one process's release to another's having the lock.

#pragma once

#include "bench/report.h"
#include "bench/zookeeper/server.h"

namespace holdfast::bench {

/// As bench/queue_hand_over.h: a node is erased, the other process is told and reads once. Forks:
/// the process must have one thread.
Result<void> add_hand_over(Report& report, const ZookeeperServer& server, const Progress& progress);

}  // namespace holdfast::bench
