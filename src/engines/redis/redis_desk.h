// RedisDesk: looking at the locks of a Redis server or cluster, and acting on them from outside.
//
// Thread safety: as Env. Lifetime: the Env outlives it; tasks under way keep it alive.

#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/lock_desk.h"
#include "engines/redis/change_bell.h"
#include "engines/redis/redis_engine.h"

namespace holdfast::redis {

class RedisDesk final : public core::LockDesk, public std::enable_shared_from_this<RedisDesk> {
 public:
  RedisDesk(Env& env,
            std::shared_ptr<RedisPort> port,
            std::shared_ptr<RedisEngine> engine,
            Keys keys);

  Task<Result<LockInfo>> inspect(LockName name, TimePoint answer_by) override;
  /// Goes through all keys of every server; not what is taken or given up meanwhile is sure to
  /// show.
  Task<Result<std::vector<LockInfo>>> list(std::string prefix, TimePoint answer_by) override;
  Task<Result<BreakReport>> break_lock(LockName name,
                                       std::string why,
                                       TimePoint answer_by) override;
  Task<Result<Duration>> extend(LockName name,
                                Owner owner,
                                Millis ttl,
                                TimePoint answer_by) override;
  Task<Result<ReleaseOutcome>> release(LockName name, Owner owner, TimePoint answer_by) override;
  std::unique_ptr<core::LockEar> listen(LockName name, std::function<void()> on_change) override;
  void announce(LockName name) override;

 private:
  struct Survey;

  Task<Result<std::vector<LockName>>> names(std::string prefix, TimePoint answer_by);
  /// `there`: a key of the server, or none.
  Task<Result<std::set<LockName>>> names_at(std::vector<std::string> there,
                                            std::string prefix,
                                            TimePoint answer_by);
  Task<Result<std::vector<LockInfo>>> look_at(std::vector<LockName> names, TimePoint answer_by);

  Env& env_;
  std::shared_ptr<RedisPort> port_;
  std::shared_ptr<RedisEngine> engine_;
  Keys keys_;
  std::shared_ptr<ChangeBell> bell_;
};

}  // namespace holdfast::redis
