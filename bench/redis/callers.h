// Acquire and release without contention: by one caller, and by many at once.

#pragma once

#include "bench/redis/server.h"
#include "bench/report.h"

namespace holdfast::bench {

/// One caller against two bare round trips; 64 callers against bare requests pipelined 64 deep.
Result<void> add_callers(Report& report, const RedisServer& server, const Progress& progress);

}  // namespace holdfast::bench
