// The processes that crash tests kill: this program, run again in a role of its own.

#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace holdfast::crash {

/// One operation of the local engine, split at the point from which it is stepped through.
enum class Operation {
  acquire_new_name,
  acquire_known_name,
  acquire_detached,
  release,
  renew_session,
  renew_detached,
  enqueue,
  leave_queue,
  hand_over,
  take_over,
  take_over_from_the_dead,
  grow,
};

std::string to_string(Operation operation);

/// Runs this program again in the role of a victim; returns its process id.
pid_t spawn(const std::vector<std::string>& arguments);

/// What a victim does, by its arguments; the program's exit status.
int run_victim(int argc, char** argv);

}  // namespace holdfast::crash
