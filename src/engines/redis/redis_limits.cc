#include "engines/redis/redis_limits.h"

#include <utility>

#include "base/decimal.h"
#include "engines/redis/limit_script.h"
#include "engines/redis/redis_reply.h"

namespace holdfast::redis {
namespace {

/// What the server answered, as decide() has it.
Result<RateDecision> read_taken(const Reply& reply, const core::Take& take) {
  if (reply.kind == Reply::Kind::error) return Unexpected{error_of(reply.text)};
  if (reply.kind == Reply::Kind::array && reply.items.size() == 2) {
    const auto ahead = parse_decimal<std::int64_t>(reply.items[1].text);
    if (ahead && *ahead >= 0) {
      const RateDecision decision = core::decide(take, Duration{*ahead});
      if (decision.allowed == (reply.items[0].integer == 1)) return decision;
    }
  }
  return Unexpected{Error{Errc::corrupt, "the server's answer to a rate limit makes no sense"}};
}

}  // namespace

std::string limit_key(std::string_view prefix, std::string_view key) {
  return std::string{prefix} + "\x01limit:" + std::string{key};
}

Task<Result<RateDecision>> RedisLimits::reserve(std::string key,
                                                core::Take take,
                                                TimePoint answer_by) {
  const SharedCall call = share({.script = &kTakeScript,
                                 .keys = {limit_key(prefix_, key)},
                                 .args = {std::to_string(take.tolerance.count()),
                                          std::to_string(take.cost.count()),
                                          std::to_string(take.wait.count())}});
  const auto reply = co_await port_->eval(call, answer_by);
  if (!reply) co_return Unexpected{reply.error()};
  co_return read_taken(*reply, take);
}

}  // namespace holdfast::redis
