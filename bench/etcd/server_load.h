// What leases and waiting calls cost the server while nothing changes.

#pragma once

#include "bench/etcd/server.h"
#include "bench/report.h"

namespace holdfast::bench {

/// 1 000 calls of one process wait for 1 000 locks.
Result<void> add_idle_waiters(Report& report, const EtcdServer& server, const Progress& progress);

/// 10 000 locks of one process are held, and renewed.
Result<void> add_held(Report& report, const EtcdServer& server, const Progress& progress);

}  // namespace holdfast::bench
