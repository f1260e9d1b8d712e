// AdvisoryDesk: looking at PostgreSQL's advisory locks, and taking them away.
//
// Holders and waiters are those of the server's own list, other programs among them. list() shows
// the locks of Holdfast's, because nobody but a holder knows the name of a key. To break a lock is
// to end its holder's session, and with it everything that session holds.
//
// Thread safety: as Env. Lifetime: the Env outlives it; tasks under way keep it alive.

#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/env.h"
#include "core/lock_desk.h"
#include "engines/postgres/advisory/advisory_engine.h"
#include "engines/postgres/advisory/look.h"
#include "engines/postgres/change_bell.h"

namespace holdfast::postgres::advisory {

class AdvisoryDesk final : public core::LockDesk,
                           public std::enable_shared_from_this<AdvisoryDesk> {
 public:
  AdvisoryDesk(Env& env, std::shared_ptr<PostgresPort> port, Settings settings);

  Task<Result<LockInfo>> inspect(LockName name, TimePoint answer_by) override;
  Task<Result<std::vector<LockInfo>>> list(std::string prefix, TimePoint answer_by) override;
  /// denied: a backend of another role needs pg_signal_backend to be ended.
  Task<Result<BreakReport>> break_lock(LockName name,
                                       std::string why,
                                       TimePoint answer_by) override;

  /// unsupported: a lock belongs to its session.
  Task<Result<Duration>> extend(LockName name,
                                Owner owner,
                                Millis ttl,
                                TimePoint answer_by) override;
  Task<Result<ReleaseOutcome>> release(LockName name, Owner owner, TimePoint answer_by) override;

  std::unique_ptr<core::LockEar> listen(LockName name, std::function<void()> on_change) override;
  void announce(LockName name) override;

 private:
  Task<Result<void>> end(Seen holder, TimePoint answer_by);
  Task<Result<Rows>> ask(Call call, TimePoint answer_by);

  Env& env_;
  std::shared_ptr<PostgresPort> port_;
  Settings settings_;
  std::shared_ptr<ChangeBell> bell_;
};

}  // namespace holdfast::postgres::advisory
