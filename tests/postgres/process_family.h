// A server of several processes: whoever stops or kills it means all of them.

#pragma once

#include <sys/types.h>

#include <vector>

namespace holdfast::postgres {

/// The processes that `parent` has started and that are there.
std::vector<pid_t> children_of(pid_t parent);

/// Stops each where it is, and waits until it is.
void stop_all(const std::vector<pid_t>& processes);
void continue_all(const std::vector<pid_t>& processes);

/// Kills each, and waits until it is gone.
void kill_all(const std::vector<pid_t>& processes);

}  // namespace holdfast::postgres
