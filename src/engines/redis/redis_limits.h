// RedisLimits: rate limits on a Redis server or cluster, each decision one script and one round
// trip.
//
// A request that was not answered is not repeated: its permits may be spent.
//
// What the server loses, in a failover or a restart without persistence, makes keys begin with
// their whole burst.
//
// Thread safety: as Env. Lifetime: the Env outlives it.

#pragma once

#include <memory>
#include <string>

#include "core/limit_desk.h"
#include "engines/redis/redis_port.h"

namespace holdfast::redis {

/// Where a limit has its key. Lock names have no control characters: none can have it.
std::string limit_key(std::string_view prefix, std::string_view key);

class RedisLimits final : public core::LimitDesk {
 public:
  RedisLimits(std::shared_ptr<RedisPort> port, std::string prefix)
      : port_{std::move(port)}, prefix_{std::move(prefix)} {}

  Task<Result<RateDecision>> reserve(std::string key,
                                     core::Take take,
                                     TimePoint answer_by) override;

 private:
  std::shared_ptr<RedisPort> port_;
  std::string prefix_;
};

}  // namespace holdfast::redis
