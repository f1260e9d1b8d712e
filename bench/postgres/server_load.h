// What waiting calls cost the server while nothing changes.

#pragma once

#include "bench/postgres/server.h"
#include "bench/report.h"

namespace holdfast::bench {

/// 1 000 calls of one process wait for 1 000 locks in lease mode, and listen. On a server of its
/// own, which logs what it runs.
Result<void> add_idle_waiters(Report& report, const PostgresServer&, const Progress& progress);

}  // namespace holdfast::bench
