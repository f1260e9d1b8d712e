// RedisEngine: exclusive locks on one Redis server.
//
// Every operation is one script (redis_scripts.h). Operations are idempotent per owner, so that one
// whose answer was lost is settled by asking again. Validity is counted from before a request was
// sent.
//
// What the server can break: a wall clock that is stepped forward, or data lost in a restart or
// failover, ends a lease early. Its holder learns of it with the next renewal; tokens still rise.
//
// Thread safety: as Env. Lifetime: the Env outlives the engine; tasks under way keep it alive.

#pragma once

#include <memory>
#include <string>

#include "base/backoff.h"
#include "base/env.h"
#include "core/lease_engine.h"
#include "engines/redis/redis_port.h"

namespace holdfast::redis {

struct Settings {
  /// Begins every key. Give it a hash tag, such as `{hf}:`, to keep all keys in one slot.
  std::string prefix{"hf:"};
  /// How long one request waits for its answer.
  Millis timeout{1000};
  /// How an unanswered request is repeated.
  BackoffPolicy retry{.first = Millis{20}, .max = Millis{500}};
};

class RedisEngine final : public core::LeaseEngine,
                          public std::enable_shared_from_this<RedisEngine> {
 public:
  RedisEngine(Env& env, std::shared_ptr<RedisPort> port, Settings settings);

  /// Repeats an unanswered request under the same owner until `answer_by`; each gets the same
  /// token.
  Task<Result<core::Grant, AcquireError>> try_acquire(LockName name,
                                                      Owner owner,
                                                      Millis ttl,
                                                      TimePoint answer_by) override;

  Task<Result<std::vector<core::Fate>>> renew(std::vector<core::HeldLease> leases,
                                              Millis ttl,
                                              TimePoint answer_by) override;

  Task<ReleaseOutcome> release(core::HeldLease lease,
                               TimePoint valid_until,
                               TimePoint answer_by) override;

  void abandon(LockName name, Owner owner, Millis ttl) override;

 private:
  std::string lock_key(const LockName& name) const;
  std::string counter_key() const;
  TimePoint attempt_end(TimePoint answer_by) const;

  Task<Result<Reply>> ask_to_release(LockName name, Owner owner, TimePoint answer_by);
  static Task<void> release_until(std::shared_ptr<RedisEngine> self,
                                  LockName name,
                                  Owner owner,
                                  TimePoint answer_by);
  Result<core::Grant, AcquireError> granted(Token token, TimePoint sent_at, Millis ttl) const;

  Env& env_;
  std::shared_ptr<RedisPort> port_;
  Settings settings_;
};

}  // namespace holdfast::redis
