// Who leads, read from the lock of an election.

#pragma once

#include <optional>

#include "holdfast/election.h"

namespace holdfast::recipes {

/// Empty: nobody holds the lock.
std::optional<Leader> leader_of(const LockInfo& lock);

}  // namespace holdfast::recipes
