// RedlockEngine: exclusive locks on a majority of independent Redis nodes, with tokens.
//
// An attempt takes the lock on every node at once, has it when a majority confirmed one token
// (tally.h), and otherwise gives back what it took. Validity is counted from before the first
// request was sent.
//
// What nodes can break: exclusion between holders needs clocks that run alike on a majority, as
// Redlock always did; tokens need counters that nodes do not lose (appendfsync always). A paused
// holder is stopped by the store, which refuses its token.
//
// Thread safety: as Env. Lifetime: the Env outlives the engine; tasks under way keep it alive.

#pragma once

#include <memory>
#include <vector>

#include "base/backoff.h"
#include "base/env.h"
#include "core/lease_engine.h"
#include "engines/redis/redis_port.h"

namespace holdfast::redlock {

struct Settings {
  /// Begins every key.
  std::string prefix{"hf:"};
  /// How long one request to one node waits for its answer: short against the TTL, so that a node
  /// that is down does not use up the lease.
  Millis timeout{200};
  /// How a release that a node did not answer is repeated.
  BackoffPolicy retry{.first = Millis{20}, .max = Millis{500}};
  /// How long a node remembers the counter of a name that nobody uses.
  Millis counter_ttl{std::chrono::hours{24 * 7}};
};

class RedlockEngine final : public core::LeaseEngine,
                            public std::enable_shared_from_this<RedlockEngine> {
 public:
  /// One port per node; all clients of a prefix use the same nodes.
  RedlockEngine(Env& env, std::vector<std::shared_ptr<redis::RedisPort>> nodes, Settings settings);

  /// busy: enough nodes are there, and somebody else has the lock on some of them, with one of
  /// those: wait. unavailable: too many nodes did not answer, with what each said. timeout: the
  /// grant took longer than the lease lasts.
  Task<Result<core::Grant, AcquireError>> acquire(core::LockRequest request,
                                                  TimePoint wait_until,
                                                  std::stop_token stop) override;

  /// Renewed: extended on a majority. Gone: on so many nodes not ours any more that no majority is
  /// left. Unknown: neither, since some nodes did not answer.
  Task<Result<std::vector<core::Fate>>> renew(std::vector<core::HeldLease> leases,
                                              Millis ttl,
                                              TimePoint answer_by) override;

  /// released: removed from a majority. already_lost: on a majority it was not ours any more.
  Task<ReleaseOutcome> release(core::HeldLease lease,
                               TimePoint valid_until,
                               TimePoint answer_by) override;

  void abandon(LockName name, Owner owner, Millis ttl) override;

 private:
  struct Attempt;
  struct Replies;
  struct Removing {
    redis::SharedCall call;
    std::size_t node;
    TimePoint until;
    std::uint32_t attempt{0};
  };

  TimePoint request_end(TimePoint answer_by) const;
  std::vector<std::string> keys_of(const LockName& name) const;
  redis::SharedCall take(const LockName& name, const Owner& owner, Millis ttl) const;
  redis::SharedCall confirm(const LockName& name, const Owner& owner, Token token) const;
  redis::SharedCall remove(const LockName& name, const Owner& owner) const;

  void take_at(const std::shared_ptr<Attempt>& attempt, std::size_t node);
  static void note_taken(Attempt& attempt, std::size_t node, Result<redis::Reply> reply);
  void confirm_at(const std::shared_ptr<Attempt>& attempt, std::size_t node);
  Task<std::shared_ptr<Replies>> ask_all(redis::SharedCall call, TimePoint answer_by);
  void give_back(const Attempt& attempt);
  void confirm_laggards(const std::shared_ptr<Attempt>& attempt);
  /// Removes what is ours at one node, and tries again until it is known to be gone.
  void remove_at(const Removing& removing);
  static Task<void> remove_later(std::shared_ptr<RedlockEngine> self, Removing removing);
  static AcquireError failure_of(const Attempt& attempt);
  Result<core::Grant, AcquireError> conclude(const Attempt& attempt) const;

  Env& env_;
  std::vector<std::shared_ptr<redis::RedisPort>> nodes_;
  Settings settings_;
};

}  // namespace holdfast::redlock
