// Acquire and release without contention: by one caller, and by many at once.

#pragma once

#include "bench/etcd/server.h"
#include "bench/report.h"

namespace holdfast::bench {

/// One caller against two bare transactions; 64 callers against bare transactions of which 64 are
/// always under way.
Result<void> add_callers(Report& report, const EtcdServer& server, const Progress& progress);

}  // namespace holdfast::bench
