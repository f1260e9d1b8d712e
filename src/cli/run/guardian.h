// The guardian of a run: the parent of the program, and what ends it when the supervisor cannot.
//
// A process of its own, forked before anything else happens. It starts the program when the lease
// is granted and reports what becomes of it. It reads the lease's deadline from shared memory, and
// acts without asking: when the supervisor dies it ends the program's group at once; when the
// deadline comes near, because the supervisor is stopped or the engine does not answer, it ends the
// group before the deadline. Only when the group is gone is the lock released: by the supervisor,
// or by the guardian when the supervisor is dead or does not move.

#pragma once

#include <csignal>

#include "base/unique_fd.h"
#include "cli/run/run_options.h"
#include "cli/run/shared_run.h"

namespace holdfast::cli {

/// To be called in a freshly forked process without threads; never returns. `channel` is the
/// guardian's end; the program starts with `signal_mask`.
[[noreturn]] void be_guardian(const RunOptions& options,
                              SharedRun& shared,
                              UniqueFd channel,
                              const sigset_t& signal_mask);

}  // namespace holdfast::cli
