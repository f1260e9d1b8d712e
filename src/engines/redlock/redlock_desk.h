// RedlockDesk: looking at the locks of a set of nodes, and acting on them from outside.
//
// Thread safety: as Env. Lifetime: the Env outlives it; tasks under way keep it alive.

#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/lock_desk.h"
#include "engines/redlock/change_bell.h"
#include "engines/redlock/node_poll.h"
#include "engines/redlock/redlock_engine.h"

namespace holdfast::redlock {

/// Every task needs a majority of the nodes; unavailable, with what each said, without one.
class RedlockDesk final : public core::LockDesk, public std::enable_shared_from_this<RedlockDesk> {
 public:
  RedlockDesk(Env& env, Nodes nodes, std::shared_ptr<RedlockEngine> engine, Settings settings);

  Task<Result<LockInfo>> inspect(LockName name, TimePoint answer_by) override;
  /// Goes through all keys of the nodes; not what is taken or given up meanwhile is sure to show.
  Task<Result<std::vector<LockInfo>>> list(std::string prefix, TimePoint answer_by) override;
  /// On every node that can be reached. One that could not be and comes back still has it, for its
  /// TTL at most, which is no majority.
  Task<Result<BreakReport>> break_lock(LockName name,
                                       std::string why,
                                       TimePoint answer_by) override;
  /// invalid_argument: longer than the set of nodes allows.
  Task<Result<Duration>> extend(LockName name,
                                Owner owner,
                                Millis ttl,
                                TimePoint answer_by) override;
  Task<Result<ReleaseOutcome>> release(LockName name, Owner owner, TimePoint answer_by) override;
  /// Needs one node alone, and so does announce().
  std::unique_ptr<core::LockEar> listen(LockName name, std::function<void()> on_change) override;
  void announce(LockName name) override;

 private:
  struct Scan;
  static Task<void> scan_node(std::shared_ptr<RedlockDesk> self,
                              std::shared_ptr<Scan> scan,
                              std::size_t node);
  Task<Result<std::vector<LockName>>> names(std::string prefix, TimePoint answer_by);
  Task<Result<std::vector<LockInfo>>> look_at(std::vector<LockName> names, TimePoint answer_by);

  Env& env_;
  Nodes nodes_;
  std::shared_ptr<RedlockEngine> engine_;
  Settings settings_;
  Keys keys_;
  std::shared_ptr<ChangeBell> bell_;
};

}  // namespace holdfast::redlock
