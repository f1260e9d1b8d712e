// Acquire and release without contention: by one caller, and by many at once.

#pragma once

#include "bench/report.h"
#include "bench/zookeeper/server.h"

namespace holdfast::bench {

/// One caller against a bare create and delete; 64 callers against bare ones of which 64 are always
/// under way on one session.
Result<void> add_callers(Report& report, const ZookeeperServer& server, const Progress& progress);

}  // namespace holdfast::bench
