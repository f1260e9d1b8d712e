// The benchmark of the local engine.

#pragma once

#include "bench/report.h"
#include "holdfast/result.h"

namespace holdfast::bench {

/// Runs every case in fresh temporary directories; about a minute. Forks, so the calling
/// process must have one thread. Errors as Client::connect, and io_error where no process or
/// directory can be made.
Result<Report> run_local(const Progress& progress);

}  // namespace holdfast::bench
