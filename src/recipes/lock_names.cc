#include "recipes/lock_names.h"

#include <algorithm>

#include "base/invalid.h"
#include "core/limits.h"
#include "holdfast/multi_lock.h"

namespace holdfast::recipes {

Result<void> put_in_order(std::vector<std::string>& names) {
  if (names.empty()) return invalid("no lock is named", "name at least one");
  for (const std::string& name : names) {
    if (auto good = core::check_name(name); !good) return good;
  }
  std::ranges::sort(names);
  const auto repeated = std::ranges::unique(names);
  names.erase(repeated.begin(), repeated.end());
  if (names.size() <= kNamesMax) return {};
  return invalid(std::to_string(names.size()) + " locks are named",
                 "take at most " + std::to_string(kNamesMax) + " at once");
}

}  // namespace holdfast::recipes
