// RedisEngine: locks of all modes on one Redis server.
//
// Every operation is one script (redis_scripts.h). Operations are idempotent per owner, so that one
// whose answer was lost is settled by asking again. Validity is counted from before a request was
// sent; that of a lock handed over by a message, from before the last request that put us in line.
//
// What the server can break: a wall clock that is stepped forward, or data lost in a restart or
// failover, ends a lease early. Its holder learns of it, and why, with the next renewal, which
// comes at once when the connection was interrupted; tokens still rise.
//
// Thread safety: as Env. Lifetime: the Env outlives the engine; tasks under way keep it alive.

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/env.h"
#include "core/queued_engine.h"
#include "engines/redis/redis_keys.h"
#include "engines/redis/redis_port.h"
#include "engines/redis/server_watch.h"
#include "engines/redis/waiting.h"

namespace holdfast::redis {

struct Settings {
  /// Begins every key.
  std::string prefix{"hf:"};
  Spread spread{Spread::one_server};
  /// How long one request waits for its answer.
  Millis timeout{1000};
  /// How long an unanswered request is repeated, in all.
  Millis patience{5000};
};

class RedisEngine final : public core::QueuedEngine {
 public:
  RedisEngine(Env& env, std::shared_ptr<RedisPort> port, Settings settings);
  ~RedisEngine() override;
  RedisEngine(const RedisEngine&) = delete;
  RedisEngine& operator=(const RedisEngine&) = delete;

  /// In scripts of a hundred leases, on a cluster of one slot each, all at once. Those of a script
  /// that nobody answered are unknown; when none was answered, the whole renewal is not.
  Task<Result<std::vector<core::Fate>>> renew(std::vector<core::HeldLease> leases,
                                              Millis ttl,
                                              TimePoint answer_by) override;

  /// Leases that were ended by force, and interruptions of the line on which that is heard.
  void tell(std::weak_ptr<core::LeaseNews> news) override { news_ = std::move(news); }

 private:
  struct Renewal;

  Result<void> check(const LockName& name) const override;
  std::unique_ptr<Place> enter(std::shared_ptr<core::Waiter> waiter) override;
  Task<Result<void>> ask_once(std::shared_ptr<core::Waiter> waiter,
                              Waits waits,
                              TimePoint answer_by) override;
  Task<Result<core::Removal>> remove(LockName name,
                                     Owner owner,
                                     std::optional<Token> token,
                                     TimePoint answer_by) override;
  void granted_to(const core::LockRequest& request) override;

  std::shared_ptr<RedisEngine> self();
  std::vector<std::string> lock_keys(const LockName& name) const;
  SharedCall acquire_call(const core::LockRequest& request, Waits waits) const;

  void hear(const Heard& heard);

  void renew_some(const std::shared_ptr<Renewal>& renewal,
                  const Script& script,
                  std::vector<std::size_t> which);
  void note_fates(Renewal& renewal,
                  const std::vector<std::size_t>& which,
                  const std::vector<core::Fate>& fates) const;

  std::shared_ptr<RedisPort> port_;
  Settings settings_;
  Keys keys_;
  /// Of the one server; there is none for the many of a cluster.
  std::shared_ptr<ServerWatch> watch_;
  std::shared_ptr<Waiting> waiting_;
  std::weak_ptr<core::LeaseNews> news_;
  bool attending_{false};
};

}  // namespace holdfast::redis
