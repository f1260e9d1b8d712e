// What leases and waiting calls cost the server while nothing changes.

#pragma once

#include "bench/report.h"
#include "bench/zookeeper/server.h"

namespace holdfast::bench {

/// 1 000 calls of one process wait for 1 000 locks.
Result<void> add_idle_waiters(Report& report,
                              const ZookeeperServer& server,
                              const Progress& progress);

/// 10 000 locks of one process are held, and renewed.
Result<void> add_held(Report& report, const ZookeeperServer& server, const Progress& progress);

}  // namespace holdfast::bench
