// ZookeeperDesk: looking at the locks of a ZooKeeper ensemble, and acting on them from outside.
//
// Thread safety: as Env. Lifetime: the Env outlives it; tasks under way keep it alive.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/lock_desk.h"
#include "engines/zookeeper/zookeeper_engine.h"

namespace holdfast::zookeeper {

class ZookeeperDesk final : public core::LockDesk,
                            public std::enable_shared_from_this<ZookeeperDesk> {
 public:
  ZookeeperDesk(Env& env, std::shared_ptr<ZookeeperPort> port, Settings settings);
  ~ZookeeperDesk() override;

  /// What is left of a lease is not told by the servers: its TTL is shown.
  Task<Result<LockInfo>> inspect(LockName name, TimePoint answer_by) override;
  /// Not what is taken or given up meanwhile is sure to show.
  Task<Result<std::vector<LockInfo>>> list(std::string prefix, TimePoint answer_by) override;
  /// Leaves a record of who did it and why, for a month.
  Task<Result<BreakReport>> break_lock(LockName name,
                                       std::string why,
                                       TimePoint answer_by) override;
  /// A detached lease's session is resumed with the TTL, if that is longer; that of a process can
  /// only be kept by the process: unsupported.
  Task<Result<Duration>> extend(LockName name,
                                Owner owner,
                                Millis ttl,
                                TimePoint answer_by) override;
  Task<Result<ReleaseOutcome>> release(LockName name, Owner owner, TimePoint answer_by) override;
  /// Told by the servers: whoever takes the lock, and by whatever means.
  std::unique_ptr<core::LockEar> listen(LockName name, std::function<void()> on_change) override;

 private:
  struct Reach;
  std::shared_ptr<Reach> reach_;
};

}  // namespace holdfast::zookeeper
