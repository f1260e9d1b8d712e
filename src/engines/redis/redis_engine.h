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
#include <string>

#include "base/backoff.h"
#include "base/env.h"
#include "core/lease_engine.h"
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
  BackoffPolicy retry{.first = Millis{20}, .max = Millis{500}};
};

class RedisEngine final : public core::LeaseEngine,
                          public std::enable_shared_from_this<RedisEngine> {
 public:
  RedisEngine(Env& env, std::shared_ptr<RedisPort> port, Settings settings);

  /// Waits in the server's queue. An unanswered request is repeated under the same owner; each gets
  /// the same token.
  Task<Result<core::Grant, AcquireError>> acquire(core::LockRequest request,
                                                  TimePoint wait_until,
                                                  std::stop_token stop) override;

  /// In scripts of a hundred leases, on a cluster of one slot each, all at once. Those of a script
  /// that nobody answered are unknown; when none was answered, the whole renewal is not.
  Task<Result<std::vector<core::Fate>>> renew(std::vector<core::HeldLease> leases,
                                              Millis ttl,
                                              TimePoint answer_by) override;

  /// The first who waits has the lock at once.
  Task<ReleaseOutcome> release(core::HeldLease lease,
                               TimePoint valid_until,
                               TimePoint answer_by) override;

  void abandon(LockName name, Owner owner, Millis ttl) override;

  /// Leases that were ended by force, and interruptions of the line on which that is heard.
  void tell(std::weak_ptr<core::LeaseNews> news) override { news_ = std::move(news); }

  /// Releases a lease by its owner alone. Of one that was not there when an unanswered request had
  /// been sent before, nobody can tell: unknown.
  Task<ReleaseOutcome> release(LockName name, Owner owner, TimePoint answer_by);

 private:
  using Granted = Result<core::Grant, AcquireError>;
  struct Renewal;

  TimePoint attempt_end(TimePoint answer_by) const;

  std::vector<std::string> lock_keys(const LockName& name) const;
  SharedCall acquire_call(const core::LockRequest& request, bool waits) const;
  Task<Result<void>> ask(std::shared_ptr<Waiter> waiter, bool waits, std::stop_token stop);
  static Task<void> wait_for_call(std::shared_ptr<Waiter> waiter,
                                  TimePoint wait_until,
                                  std::stop_token stop);
  /// Whether an owner that gives up is out of the queue, and has nothing.
  enum class Left : std::uint8_t { surely, unknown };
  Task<Left> leave(LockName name, Owner owner, TimePoint answer_by);
  Granted granted(const Waiter& waiter);
  Granted refused(const Waiter& waiter, Error error);

  /// From the first lease on, what may happen to leases is heard.
  void attend();
  void hear(const Heard& heard);

  void renew_some(const std::shared_ptr<Renewal>& renewal,
                  const Script& script,
                  std::vector<std::size_t> which);
  void note_fates(Renewal& renewal,
                  const std::vector<std::size_t>& which,
                  const std::vector<core::Fate>& fates) const;

  SharedCall release_call(const LockName& name, const Owner& owner) const;
  SharedCall release_call(const core::HeldLease& lease) const;
  Task<ReleaseOutcome> release_once(SharedCall call, TimePoint valid_until, TimePoint answer_by);
  static Task<void> release_until(std::shared_ptr<RedisEngine> self,
                                  LockName name,
                                  Owner owner,
                                  TimePoint answer_by);

  Env& env_;
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
