#include "sim/checkers/idempotency.h"

#include <map>

#include "base/decimal.h"
#include "engines/redis/redis_scripts.h"

namespace holdfast::sim {
namespace {

struct Standing {
  std::string token;
  WallTime until{};
  std::uint32_t data_epoch{0};
};

using ByOwner = std::map<std::string, Standing>;

bool is_grant(const Execution& execution) {
  const auto& items = execution.reply.items;
  return execution.call.script == &redis::kAcquireScript && items.size() == 2 &&
         items[0].integer == 1;
}

void judge_grant(const Execution& execution, ByOwner& standing, Violations& found) {
  const std::string& owner = execution.call.args[0];
  const std::string& token = execution.reply.items[1].text;
  const auto before = standing.find(owner);
  const bool stands = before != standing.end() && execution.at < before->second.until &&
                      execution.data_epoch == before->second.data_epoch;
  if (stands && before->second.token != token) {
    found.push_back({"idempotency", "one owner got tokens " + before->second.token + ", " + token});
  }
  const std::chrono::milliseconds ttl{*parse_decimal<std::int64_t>(execution.call.args[1])};
  standing[owner] = {token, execution.at + ttl, execution.data_epoch};
}

}  // namespace

Violations check_idempotency(const std::vector<Execution>& executions) {
  Violations found;
  ByOwner standing;
  for (const Execution& execution : executions) {
    if (is_grant(execution)) judge_grant(execution, standing, found);
    if (execution.call.script == &redis::kReleaseScript) standing.erase(execution.call.args[0]);
  }
  return found;
}

}  // namespace holdfast::sim
