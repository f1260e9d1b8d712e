// RedlockEngine: exclusive locks on a majority of independent Redis nodes, with tokens.
//
// An attempt takes the lock on every node at once, has it when a majority confirmed one token
// (tally.h), and otherwise gives back what it took. Validity is counted from before the first
// request was sent. Every operation ends as soon as its outcome is certain: a node that is down or
// hangs holds up nothing.
//
// What nodes can break: exclusion between holders needs clocks that run alike on a majority, as
// Redlock always did; tokens need counters that nodes do not lose (appendfsync always). A node that
// lost all its data says so and serves nobody (node_set.h). A paused holder is stopped by the
// store, which refuses its token.
//
// Thread safety: as Env. Lifetime: the Env outlives the engine; tasks under way keep it alive.

#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/backoff.h"
#include "base/env.h"
#include "core/lease_engine.h"
#include "engines/redis/redis_port.h"
#include "engines/redlock/node_set.h"
#include "engines/redlock/verdict.h"
#include "engines/redlock/wake_ups.h"

namespace holdfast::redlock {

struct Settings {
  /// Begins every key.
  std::string prefix{"hf:"};
  /// What the nodes must be of.
  NodeSet set{};
  /// As messages name the nodes. Those without a name have a number.
  std::vector<std::string> names{};
  /// How long one request to one node waits for its answer: short against the TTL, so that a node
  /// that is down does not use up the lease.
  Millis timeout{200};
  /// How a release that a node did not answer is repeated.
  BackoffPolicy retry{.first = Millis{20}, .max = Millis{500}};
  /// How long a node remembers the counter of a name that nobody uses.
  Millis counter_ttl{std::chrono::hours{24 * 7}};
  /// How long one who waits bears that too few nodes can be used.
  Millis patience{1000};
  /// How often one who waits looks at the lock at least, whatever it hears.
  Millis look_every{1000};
};

class RedlockEngine final : public core::LeaseEngine,
                            public std::enable_shared_from_this<RedlockEngine> {
 public:
  /// One port per node; all clients of a prefix use the same nodes.
  RedlockEngine(Env& env, std::vector<std::shared_ptr<redis::RedisPort>> nodes, Settings settings);

  /// Waits in no order: it is called when the lock is released, and looks from time to time. Each
  /// attempt has an owner of its own, which the grant tells.
  ///
  /// busy, timeout: enough nodes are there, and somebody else has the lock on some of them, with
  /// one of those. unavailable: too many nodes cannot be used. Both with what each node said.
  /// timeout, too: the grant took longer than the lease lasts. invalid_argument: the TTL is longer
  /// than the set of nodes allows.
  Task<Result<core::Grant, AcquireError>> acquire(core::LockRequest request,
                                                  TimePoint wait_until,
                                                  std::stop_token stop) override;

  /// Renewed: extended on a majority; a node that does not have the lock is given it again then.
  /// Gone: on so many nodes not ours any more that no majority is left. Unknown: neither, since
  /// some nodes did not answer.
  Task<Result<std::vector<core::Fate>>> renew(std::vector<core::HeldLease> leases,
                                              Millis ttl,
                                              TimePoint answer_by) override;

  /// released: removed from a majority. already_lost: on a majority it was not ours any more.
  Task<ReleaseOutcome> release(core::HeldLease lease,
                               TimePoint valid_until,
                               TimePoint answer_by) override;

  void abandon(LockName name, Owner owner, Millis ttl) override;

 private:
  using Granted = Result<core::Grant, AcquireError>;
  struct Attempt;
  struct Renewal;
  struct Release;
  struct Removing {
    redis::SharedCall call;
    std::size_t node;
    TimePoint until;
    std::uint32_t attempt{0};
  };

  TimePoint request_end(TimePoint answer_by) const;
  std::vector<std::string> keys_of(const LockName& name) const;

  // Taking: redlock_engine.cc.
  struct Tried {
    std::optional<core::Grant> grant{};
    /// Without a grant.
    Refusal refusal{};
  };
  enum class Manner : std::uint8_t {
    at_once,
    /// One node is asked first, and only who gets the lock there asks the others: those who were
    /// called together do not take it from each other in parts.
    in_turn,
  };
  Task<Tried> try_once(core::LockRequest request, Manner manner);
  Task<std::shared_ptr<Attempt>> take_all(core::LockRequest request, Manner manner);
  std::size_t choose_umpire() const;
  void take_at(const std::shared_ptr<Attempt>& attempt, std::size_t node);
  static void note_taken(Attempt& attempt, std::size_t node, Result<redis::Reply> reply);
  redis::SharedCall confirm(const LockName& name, const Owner& owner, Token token) const;
  void settle_late(const Attempt& attempt, std::size_t node);
  void confirm_laggards(const std::shared_ptr<Attempt>& attempt);
  void confirm_at(const std::shared_ptr<Attempt>& attempt, std::size_t node);
  void give_back(const Attempt& attempt);
  Tried conclude(const Attempt& attempt) const;

  // Waiting: redlock_waiting.cc.
  using Waiter = WakeUps::Waiter;
  Task<Granted> wait_and_try(core::LockRequest request,
                             std::shared_ptr<Waiter> waiter,
                             Refusal refusal,
                             TimePoint wait_until,
                             std::stop_token stop);
  Task<void> wait_for_chance(std::shared_ptr<Waiter> waiter,
                             Refusal::Cause cause,
                             TimePoint look_at,
                             std::stop_token stop);
  TimePoint next_look(const Refusal& refusal, Millis ttl, std::uint32_t in_vain);
  /// Tells the nodes that it waits, for people who look.
  void tell_waiting(const core::LockRequest& request);
  enum class Leaving : std::uint8_t { with_the_lock, with_nothing };
  /// Tells them that it does not any more. Who leaves with nothing has time to be sure of it.
  Task<void> leave(core::LockRequest request, Leaving leaving);

  // Keeping: redlock_renewal.cc.
  void extend_at(const std::shared_ptr<Renewal>& renewal,
                 const redis::SharedCall& call,
                 std::size_t node,
                 TimePoint answer_by);
  void repair_missing(Renewal& renewal);
  void repair(const core::HeldLease& lease, Millis ttl, std::size_t node);
  void forget_repairs(const Owner& owner);

  // Giving up: redlock_release.cc.
  enum class Told : std::uint8_t { nobody, waiters };
  redis::SharedCall remove(const LockName& name, const Owner& owner, Told told) const;
  void release_at(const std::shared_ptr<Release>& release, std::size_t node, TimePoint answer_by);
  /// Removes what is ours at one node, and tries again until it is known to be gone.
  void remove_at(const Removing& removing);
  static Task<void> remove_later(std::shared_ptr<RedlockEngine> self, Removing removing);

  Env& env_;
  std::vector<std::shared_ptr<redis::RedisPort>> nodes_;
  Settings settings_;
  Keys keys_;
  /// Nodes that did not answer the last time.
  std::vector<bool> failing_;
  std::shared_ptr<WakeUps> wake_ups_;
  /// Owners whose locks are being repaired, and where; given up ones are not here any more.
  std::set<std::pair<Owner, std::size_t>> repairing_;
};

}  // namespace holdfast::redlock
