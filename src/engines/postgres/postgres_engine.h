// PostgresEngine: locks of all modes as leases in tables of a PostgreSQL database.
//
// Every operation is one statement (lease_statements.h), each a transaction of its own, so that it
// works through a pooler. Validity is counted from before a request was sent; that of a lock handed
// over meanwhile, from before the statement that confirmed it, with what the server says is left.
//
// From its first lease or its first wait on, the process has one session beside (ear.h), over which
// it hears of hand-overs and of leases ended by force. Where no session can be had, because there
// is a pooler between, those who wait ask again (waiting.h).
//
// What the server can break: a wall clock that is stepped forward, or a replica promoted without
// the latest transactions, ends a lease early. Its holder learns of it, and why, with the next
// renewal, which comes at once when the session was interrupted; tokens still rise.
//
// Thread safety: as Env. Lifetime: the Env outlives the engine; tasks under way keep it alive.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/queued_engine.h"
#include "engines/postgres/ear.h"
#include "engines/postgres/postgres_port.h"
#include "engines/postgres/waiting.h"

namespace holdfast::postgres {

struct Settings {
  /// Begins the name of every lock in the database.
  std::string prefix{"hf/"};
  /// How long one request waits for its answer.
  Millis timeout{1000};
  /// How long an unanswered request is repeated, in all.
  Millis patience{5000};
};

class PostgresEngine final : public core::QueuedEngine {
 public:
  PostgresEngine(Env& env, std::shared_ptr<PostgresPort> port, Settings settings);
  ~PostgresEngine() override;
  PostgresEngine(const PostgresEngine&) = delete;
  PostgresEngine& operator=(const PostgresEngine&) = delete;

  /// In statements of some hundred leases. Those that were not answered are unknown; when none was,
  /// the whole renewal is not.
  Task<Result<std::vector<core::Fate>>> renew(std::vector<core::HeldLease> leases,
                                              Millis ttl,
                                              TimePoint answer_by) override;

  /// Leases that were ended by force, and interruptions of the session over which that is heard.
  void tell(std::weak_ptr<core::LeaseNews> news) override { news_ = std::move(news); }

 private:
  /// What outlives the engine finds it here, or nobody.
  using Handle = std::shared_ptr<PostgresEngine*>;

  std::unique_ptr<Place> enter(std::shared_ptr<core::Waiter> waiter) override;
  Task<Result<void>> ask_once(std::shared_ptr<core::Waiter> waiter,
                              Waits waits,
                              TimePoint answer_by) override;
  Task<Result<core::Removal>> remove(LockName name,
                                     Owner owner,
                                     std::optional<Token> token,
                                     TimePoint answer_by) override;
  void granted_to(const core::LockRequest& request) override;

  std::shared_ptr<Ear> make_ear() const;
  std::shared_ptr<Waiting> make_waiting() const;
  std::string stored(const LockName& name) const { return settings_.prefix + name.text(); }
  SharedCall acquire_call(const core::LockRequest& request,
                          Waits waits,
                          const Waiting::Session& session) const;
  SharedCall renew_call(const std::vector<core::HeldLease>& leases, Millis ttl) const;
  void hear(const std::string& text);
  void attended_anew();

  std::shared_ptr<PostgresPort> port_;
  Settings settings_;
  Handle handle_;
  std::shared_ptr<Ear> ear_;
  std::shared_ptr<Waiting> waiting_;
  std::weak_ptr<core::LeaseNews> news_;
};

}  // namespace holdfast::postgres
