// What becomes of a refusal by a store or a fenced file, besides that it is told.

#pragma once

#include <string>
#include <string_view>

#include "cli/console.h"
#include "cli/store/target.h"
#include "holdfast/store.h"

namespace holdfast::cli {

/// Counts an operation that was refused as stale at the engine, for `top`. Whether that could be
/// done changes nothing, and nobody is told.
void count_stale(Store& store, std::string_view resource);

/// Reports what was not done, counts it if it was stale, and gives the exit code.
int fail_target(const StoreError& error,
                const Target& target,
                const std::string& engine,
                Console& console);

}  // namespace holdfast::cli
