// PlainPostgresEngine: locks as programs without Holdfast keep them in PostgreSQL, for the
// simulator to compare with.
//
// A lock is a row with an owner and the time it ends (plain_statements.h). Nobody waits in line:
// who finds it taken asks again. There are no tokens.
//
// Thread safety: as Env. Lifetime: the Env outlives the engine; tasks under way keep it alive.

#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/env.h"
#include "core/lease_engine.h"
#include "engines/postgres/postgres_port.h"

namespace holdfast::sim {

class PlainPostgresEngine final : public core::LeaseEngine,
                                  public std::enable_shared_from_this<PlainPostgresEngine> {
 public:
  struct Settings {
    /// How long one statement waits for its answer.
    Millis timeout{1000};
    /// How long a caller goes on asking a server that does not answer.
    Millis patience{5000};
  };

  PlainPostgresEngine(Env& env, std::shared_ptr<postgres::PostgresPort> port, Settings settings)
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
  /// Whether the statement found a row.
  Task<Result<bool>> ask(const postgres::Statement& statement,
                         std::vector<postgres::Value> args,
                         TimePoint until);
  Task<void> give_back(LockName name, Owner owner, TimePoint until);

  Env& env_;
  std::shared_ptr<postgres::PostgresPort> port_;
  Settings settings_;
};

}  // namespace holdfast::sim
