// Watching the locks of an engine by looking at them again and again, and telling what is
// different.

#pragma once

#include <functional>
#include <stop_token>
#include <vector>

#include "holdfast/inspect.h"
#include "holdfast/result.h"

namespace holdfast::core {

using LockList = std::function<Result<std::vector<LockInfo>>()>;

/// Looks at what `list` gives, at once and then `every` so often, and calls back for every
/// difference; the first look differs from nothing. Blocks until `stop`; both run on this thread.
///
/// A look that fails ends the watch with its error.
Result<void> watch_locks(const LockList& list,
                         Millis every,
                         const std::function<void(const LockEvent&)>& callback,
                         std::stop_token stop);

}  // namespace holdfast::core
