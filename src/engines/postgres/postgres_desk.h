// PostgresDesk: looking at the leases of a database, and acting on them from outside.
//
// Thread safety: as Env. Lifetime: the Env outlives it; tasks under way keep it alive.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/lock_desk.h"
#include "engines/postgres/change_bell.h"
#include "engines/postgres/postgres_engine.h"

namespace holdfast::postgres {

class PostgresDesk final : public core::LockDesk,
                           public std::enable_shared_from_this<PostgresDesk> {
 public:
  PostgresDesk(Env& env,
               std::shared_ptr<PostgresPort> port,
               std::shared_ptr<PostgresEngine> engine,
               std::string prefix);

  Task<Result<LockInfo>> inspect(LockName name, TimePoint answer_by) override;
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
  std::string stored(const LockName& name) const { return prefix_ + name.text(); }

  Env& env_;
  std::shared_ptr<PostgresPort> port_;
  std::shared_ptr<PostgresEngine> engine_;
  std::string prefix_;
  std::shared_ptr<ChangeBell> bell_;
};

}  // namespace holdfast::postgres
