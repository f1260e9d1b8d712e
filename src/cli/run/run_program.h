// `holdfast run`: one program under one lock.
//
// Three processes: the supervisor, which the user started, renews the lease; its guardian starts
// the program and ends it in time whatever becomes of the supervisor; the program leads a process
// group of its own.

#pragma once

#include "cli/console.h"
#include "cli/run/run_options.h"
#include "cli/run/verdict.h"

namespace holdfast::cli {

/// What the run amounts to; errors have been reported. Call it before anything has started a
/// thread: it forks.
Verdict run_program(const RunOptions& options, Console& console);

}  // namespace holdfast::cli
