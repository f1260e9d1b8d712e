// One caller without contention: both kinds of lock, and the fenced store.

#pragma once

#include "bench/postgres/server.h"
#include "bench/report.h"

namespace holdfast::bench {

/// A lease against a bare insert and delete of one row; an advisory lock against bare
/// pg_advisory_lock and pg_advisory_unlock; a fenced write against the same write unfenced.
Result<void> add_callers(Report& report, const PostgresServer& server, const Progress& progress);

}  // namespace holdfast::bench
