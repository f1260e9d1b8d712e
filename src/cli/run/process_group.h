// A process group seen from outside it.

#pragma once

#include <sys/types.h>

namespace holdfast::cli {

/// The name guardians show in the process table.
inline constexpr const char* kGuardianName = "holdfast-guard";

/// TERM, and CONT for those that are stopped: they would not see the TERM.
void terminate_group(pid_t group);

/// Whether no process of the group exists, not even one that has ended and was not waited for.
bool group_gone(pid_t group);

/// Whether no process of the group can act any more. Looks at every process of the machine.
bool group_dead(pid_t group);

/// Whether a guardian of another run has become our child: a nested run whose supervisor was
/// killed. It is about to end its own group, and will not take long.
bool adopted_guardian();

}  // namespace holdfast::cli
