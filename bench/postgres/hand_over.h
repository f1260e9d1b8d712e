// From one process's release to another's having the lock, in lease mode.

#pragma once

#include "bench/postgres/server.h"
#include "bench/report.h"

namespace holdfast::bench {

/// Against two and a half bare writes of a row. Forks: the process must have one thread.
Result<void> add_hand_over(Report& report, const PostgresServer& server, const Progress& progress);

}  // namespace holdfast::bench
