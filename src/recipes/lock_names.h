// The names of several locks, in the order in which everybody takes them.

#pragma once

#include <string>
#include <vector>

#include "holdfast/result.h"

namespace holdfast::recipes {

/// Sorts them by their bytes and leaves each once. invalid_argument: none, more than kNamesMax, or
/// one that is wrong.
Result<void> put_in_order(std::vector<std::string>& names);

}  // namespace holdfast::recipes
