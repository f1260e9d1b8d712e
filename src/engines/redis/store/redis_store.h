// RedisStore: the store on a Redis server, each operation one script (store_script.h).
//
// A request that was not answered is repeated until the timeout under the same id, by which the key
// knows it again: the effect comes once. What cannot be settled is unknown_outcome.
//
// What the server can lose: with `appendfsync everysec` or `no`, or in a failover, the last changes
// and marks. Tokens and versions do not go back, but an old holder may be let in until a newer one
// opens the resource again (docs/guide/redis_store.md).
//
// Thread safety: any thread. Lifetime: it may outlive its Env, whose end it learns of: the port is
// let go, who still waits is told shutting_down, and so is every call from then on. The same in a
// forked child.

#pragma once

#include <memory>
#include <string>

#include "base/backoff.h"
#include "base/dispatcher.h"
#include "base/env.h"
#include "core/store_backend.h"
#include "engines/redis/redis_keys.h"
#include "engines/redis/redis_port.h"
#include "engines/redis/store/store_answer.h"

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

class RedisStore final : public StoreBackend, public std::enable_shared_from_this<RedisStore> {
 public:
  RedisStore(Env& env, std::shared_ptr<RedisPort> port, StoreSettings settings);
  ~RedisStore() override;

  /// Blocks the thread, which is not the Env's.
  StoreResult perform(const StoreRequest& request) override;

  /// The callback runs on a thread of the store's own.
  void async_perform(StoreRequest request, StoreCallback callback) override;

 private:
  class Answer;
  /// The way to the server, as long as there is an Env, and who waits for an answer.
  class Gate;
  class Sentinel;

  bool forked() const;
  void begin(StoreRequest request, StoreCallback callback);
  static Task<void> run(std::shared_ptr<RedisStore> self,
                        StoreRequest request,
                        std::shared_ptr<Answer> answer);
  Task<StoreResult> settle(const StoreRequest& request);

  Env& env_;
  StoreSettings settings_;
  std::uint32_t generation_;
  std::shared_ptr<Gate> gate_;
  Dispatcher dispatcher_;
};

}  // namespace holdfast::redis
