// DeskReach: how the desk reaches an ensemble: a session of its own, and many requests at once.
//
// Thread safety: as Env. Lifetime: the Env outlives it; its user keeps it alive through every call.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engines/zookeeper/contenders.h"
#include "engines/zookeeper/zookeeper_parts.h"

namespace holdfast::zookeeper {

class DeskReach {
 public:
  DeskReach(Env& env, std::shared_ptr<ZookeeperPort> port, Settings settings);

  /// A session that has caught up with all that was done before this was called.
  Task<Result<SessionUse>> enter(TimePoint answer_by) const;

  /// Who holds the lock and who waits.
  Task<Result<Lineup>> look_at(SessionLine& line, LockName name, TimePoint answer_by) const;

  /// The same for several locks, without those that have no contenders.
  Task<Result<std::vector<Lineup>>> look_at_all(SessionLine& line,
                                                std::vector<LockName> names,
                                                TimePoint answer_by) const;

  Env& env;
  Nodes nodes;
  Settings settings;
  std::shared_ptr<Sessions> sessions;
};

}  // namespace holdfast::zookeeper
