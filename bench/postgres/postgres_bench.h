// The benchmark of the PostgreSQL engines.

#pragma once

#include "bench/peers.h"
#include "bench/report.h"
#include "holdfast/result.h"

namespace holdfast::bench {

/// Runs every case against servers of its own; about a minute. Forks, so the calling process must
/// have one thread. Errors as Client::connect; unavailable where no PostgreSQL can be started.
Result<Report> run_postgres(Peers peers, const Progress& progress);

}  // namespace holdfast::bench
