#include "sim/checkers/exclusion.h"

namespace holdfast::sim {

Violations check_exclusion(const History& history) {
  Violations found;
  const auto& grants = history.grants;
  for (std::size_t i = 0; i < grants.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (grants[i].lock != grants[j].lock || !grants[i].held.overlaps(grants[j].held)) continue;
      found.push_back({"exclusion",
                       grants[i].lock + " was held under tokens " +
                           std::to_string(grants[j].token.value()) + " and " +
                           std::to_string(grants[i].token.value()) + " at once"});
    }
  }
  return found;
}

}  // namespace holdfast::sim
