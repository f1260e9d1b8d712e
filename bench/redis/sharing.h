// Whether those who want the same lock get it alike.

#pragma once

#include "bench/redis/server.h"
#include "bench/report.h"

namespace holdfast::bench {

/// 48 clients, each with connections of its own, take turns of 10 ms: the fewest turns of one
/// against the most.
Result<void> add_sharing(Report& report, const RedisServer& server, const Progress& progress);

}  // namespace holdfast::bench
