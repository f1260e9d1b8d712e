// ZookeeperEngine: locks of all modes on a ZooKeeper ensemble.
//
// Every contender is an ephemeral sequential node below that of the lock; their numbers are the
// queue, and the change that created a node is its token. All locks of one TTL share one session,
// which one request keeps alive. Validity is counted pessimistically, by our own clock, whatever
// the client library believes. Taking a free lock is two requests in one round trip, giving it up
// is one.
//
// What an ensemble can break: docs/internals/zookeeper.md.
//
// Thread safety: as Env. Lifetime: the Env outlives the engine; tasks under way keep it alive.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/backoff.h"
#include "base/env.h"
#include "core/lease_engine.h"
#include "engines/zookeeper/zookeeper_nodes.h"
#include "engines/zookeeper/zookeeper_port.h"

namespace holdfast::zookeeper {

struct Settings {
  /// The node below which the locks are. Empty: names are paths.
  std::string prefix{"/hf"};
  Layout layout{Layout::curator};
  /// How long one request waits for its answer.
  Millis timeout{1000};
  /// How long an unanswered request is repeated, in all.
  Millis patience{5000};
  /// How long a session is kept that no lock needs.
  Millis idle{60'000};
  /// How often those who wait look whether news of whom they wait for was lost.
  Millis look_again{30'000};
  BackoffPolicy retry{.first = Millis{20}, .max = Millis{500}};
};

struct Parts;
class Holdings;

class ZookeeperEngine final : public core::LeaseEngine,
                              public std::enable_shared_from_this<ZookeeperEngine> {
 public:
  ZookeeperEngine(Env& env, std::shared_ptr<ZookeeperPort> port, Settings settings);
  ~ZookeeperEngine() override;
  ZookeeperEngine(const ZookeeperEngine&) = delete;
  ZookeeperEngine& operator=(const ZookeeperEngine&) = delete;

  /// Waits in the ensemble's queue. An unanswered request is settled by the contender's id.
  /// not_found: the chroot is missing. invalid_argument, too: the name is no path.
  Task<Result<core::Grant, AcquireError>> acquire(core::LockRequest request,
                                                  TimePoint wait_until,
                                                  std::stop_token stop) override;

  /// One request for all locks of a session.
  Task<Result<std::vector<core::Fate>>> renew(std::vector<core::HeldLease> leases,
                                              Millis ttl,
                                              TimePoint answer_by) override;
  core::Confirmation confirmed(const core::HeldLease& lease, TimePoint called_at) const override;

  Task<ReleaseOutcome> release(core::HeldLease lease,
                               TimePoint valid_until,
                               TimePoint answer_by) override;

  void abandon(LockName name, Owner owner, Millis ttl) override;

  /// Leases that were ended by force or by the ensemble.
  void tell(std::weak_ptr<core::LeaseNews> news) override;

 private:
  Env& env_;
  std::shared_ptr<Parts> parts_;
  std::shared_ptr<Holdings> holdings_;
};

}  // namespace holdfast::zookeeper
