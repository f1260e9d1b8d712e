// RedisStore: the store on a Redis server, each operation one script (store_script.h).
//
// A request that was not answered is repeated until the timeout under the same id, by which the key
// knows it again: the effect comes once. What cannot be settled is unknown_outcome.
//
// What the server can lose: with `appendfsync everysec` or `no`, or in a failover, the last changes
// and marks. Tokens and versions do not go back, but an old holder may be let in until a newer one
// opens the resource again (docs/guide/redis_store.md).
//
// Thread safety and lifetime: as TaskStore.

#pragma once

#include <memory>
#include <string>

#include "base/backoff.h"
#include "base/env.h"
#include "core/task_store.h"
#include "engines/redis/redis_keys.h"
#include "engines/redis/redis_port.h"

namespace holdfast::redis {

struct StoreSettings {
  /// Begins every key.
  std::string prefix{"hf:"};
  Spread spread{Spread::one_server};
  /// How long an operation takes at most. More than 5 minutes count as that.
  Millis timeout{1000};
  /// How an unanswered request is repeated.
  BackoffPolicy retry{.first = Millis{20}, .max = Millis{500}};
  /// Who this is, for the record of what administrators do.
  std::string who{};
};

class RedisStore final : public core::TaskStore {
 public:
  RedisStore(Env& env, const std::shared_ptr<RedisPort>& port, StoreSettings settings);

 private:
  Task<StoreResult> settle(const StoreRequest& request) override;

  RedisPort* port_;
  StoreSettings settings_;
};

}  // namespace holdfast::redis
