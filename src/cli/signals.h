// Signals as something to read, rather than something that interrupts.

#pragma once

#include <initializer_list>

#include "base/unique_fd.h"

namespace holdfast::cli {

/// Blocks the given signals for this thread and those it starts, and gives a non-blocking
/// descriptor to read them from. Leaves out those the process was told to ignore.
UniqueFd open_signals(std::initializer_list<int> signals);

/// The next signal that has arrived, or 0.
int next_signal(int fd);

}  // namespace holdfast::cli
