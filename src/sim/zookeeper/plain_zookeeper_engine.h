// PlainZookeeperEngine: locks as ZooKeeper's usual recipe has them, for the simulator to compare
// with.
//
// One session for all locks of a TTL, kept alive by the client library. A contender is an ephemeral
// sequential node with an id in its name, by which it is found again when the reply was lost. The
// node with the lowest number holds the lock; who waits watches the one before. A lock counts as
// held as long as the session's server finds its node. There are no tokens.
//
// Thread safety: as Env. Lifetime: the Env outlives the engine; tasks under way keep it alive.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/env.h"
#include "core/lease_engine.h"
#include "engines/zookeeper/zookeeper_port.h"

namespace holdfast::sim {

class PlainZookeeperEngine final : public core::LeaseEngine,
                                   public std::enable_shared_from_this<PlainZookeeperEngine> {
 public:
  struct Settings {
    /// How long one request waits for its answer.
    Millis timeout{1000};
    /// How long a caller that has waited long enough waits for a last answer.
    Millis patience{5000};
  };

  PlainZookeeperEngine(Env& env, std::shared_ptr<zookeeper::ZookeeperPort> port, Settings settings)
      : env_{env}, port_{std::move(port)}, settings_{settings} {}

  Task<Result<core::Grant, AcquireError>> acquire(core::LockRequest request,
                                                  TimePoint wait_until,
                                                  std::stop_token stop) override;
  Task<Result<std::vector<core::Fate>>> renew(std::vector<core::HeldLease> leases,
                                              Millis ttl,
                                              TimePoint answer_by) override;
  Task<ReleaseOutcome> release(core::HeldLease lease,
                               TimePoint valid_until,
                               TimePoint answer_by) override;
  void abandon(LockName name, Owner owner, Millis ttl) override;

 private:
  struct Session;
  struct Contender;
  using ContenderPtr = std::shared_ptr<Contender>;

  std::shared_ptr<Session> session_of(Millis ttl);
  ContenderPtr enter(const core::LockRequest& request);
  Task<Result<zookeeper::Answer>> ask(Contender& mine,
                                      zookeeper::Request request,
                                      TimePoint until = TimePoint::max());
  Task<Result<void>> make_parents(Contender& mine);
  Task<Result<void>> stand_in_line(Contender& mine, TimePoint until);
  /// Finds its own node, whoever made it. Whether it is first; otherwise `before` is whom it waits
  /// for.
  Task<Result<bool>> look(Contender& mine);
  Task<Result<void>> wait_for(Contender& mine, TimePoint until);
  Task<Result<void>> become_first(Contender& mine, TimePoint wait_until);
  Task<void> leave(ContenderPtr mine, TimePoint until);

  Env& env_;
  std::shared_ptr<zookeeper::ZookeeperPort> port_;
  Settings settings_;
  std::map<Millis, std::shared_ptr<Session>> sessions_;
  std::map<Owner, ContenderPtr> contenders_;
};

}  // namespace holdfast::sim
