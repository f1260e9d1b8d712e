// Acquire and release without contention: by one caller, and by many at once.

#pragma once

#include <string_view>

#include "bench/redis/server.h"
#include "bench/report.h"

namespace holdfast::bench {

/// The name of the case of one caller.
inline constexpr std::string_view kOneCaller = "one caller, acquire+release";

/// One caller against two bare round trips; 64 callers against bare requests pipelined 64 deep.
Result<void> add_callers(Report& report, const RedisServer& server, const Progress& progress);

}  // namespace holdfast::bench
