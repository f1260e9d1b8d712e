#include "sim/checkers/token_order.h"

namespace holdfast::sim {
namespace {

std::string describe(const GrantRecord& first, const GrantRecord& second) {
  return first.lock + ": token " + std::to_string(second.token.value()) + " after " +
         std::to_string(first.token.value());
}

}  // namespace

Violations check_token_order(const History& history) {
  Violations found;
  for (const GrantRecord& first : history.grants) {
    for (const GrantRecord& second : history.grants) {
      if (&first == &second || first.lock != second.lock) continue;
      const bool repeated = first.token == second.token;
      const bool went_back = first.held.begin <= second.asked_at && second.token < first.token;
      if (repeated || went_back) found.push_back({"token_order", describe(first, second)});
    }
  }
  return found;
}

}  // namespace holdfast::sim
