// AdvisoryEngine: PostgreSQL's session advisory locks, exclusive and shared.
//
// A lock is the server's own and belongs to a session; whoever waits does so in the server's queue.
// The server ends a session that has not been heard of for a TTL, which frees its locks; so a lease
// here lasts as long as anywhere. A token is drawn in the statement that takes the lock.
//
// What can break it: whoever may end backends, a restart or a promotion takes locks away. Holders
// learn of it at once when the connection tells, and why.
//
// Thread safety: as Env. Lifetime: the Env outlives the engine; tasks under way keep it alive.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/backoff.h"
#include "base/env.h"
#include "core/lease_engine.h"
#include "engines/postgres/advisory/holdings.h"
#include "engines/postgres/advisory/lines.h"

namespace holdfast::postgres::advisory {

struct Settings {
  /// Begins every name before it becomes a key, except for `id:N`.
  std::string prefix{"hf/"};
  /// How long one statement waits for its answer.
  Millis timeout{1000};
  /// How long an operation is tried again, in all.
  Millis patience{5000};
  BackoffPolicy retry{.first = Millis{20}, .max = Millis{500}};
};

struct Waiting;

class AdvisoryEngine final : public core::LeaseEngine,
                             public std::enable_shared_from_this<AdvisoryEngine> {
 public:
  /// Precondition: the port's sessions are backends of their own.
  AdvisoryEngine(Env& env, std::shared_ptr<PostgresPort> port, Settings settings);
  ~AdvisoryEngine() override;
  AdvisoryEngine(const AdvisoryEngine&) = delete;
  AdvisoryEngine& operator=(const AdvisoryEngine&) = delete;

  /// Waits in the server's queue, in a session of its own. One that is lost while it waits begins
  /// anew, at the end.
  Task<Result<core::Grant, AcquireError>> acquire(core::LockRequest request,
                                                  TimePoint wait_until,
                                                  std::stop_token stop) override;

  /// One statement for every session.
  Task<Result<std::vector<core::Fate>>> renew(std::vector<core::HeldLease> leases,
                                              Millis ttl,
                                              TimePoint answer_by) override;

  Task<ReleaseOutcome> release(core::HeldLease lease,
                               TimePoint valid_until,
                               TimePoint answer_by) override;

  void abandon(LockName name, Owner owner, Millis ttl) override;

  /// Sessions that ended with locks on them.
  void tell(std::weak_ptr<core::LeaseNews> news) override { holdings_->tell(std::move(news)); }

 private:
  /// None: somebody else has the lock.
  using Taken = std::optional<core::Grant>;

  /// A token that was drawn becomes one that may be handed out, or a failure. Most are reserved.
  Task<void> reserve(const LineUse& use, Result<Token>& drawn, TimePoint answer_by);
  enum class On : std::uint8_t { any_line, line_of_its_own };
  Task<Result<Taken>> try_once(core::LockRequest request, On on, TimePoint answer_by);
  Task<Result<Taken>> wait_once(core::LockRequest request,
                                TimePoint wait_until,
                                std::stop_token stop);
  Task<Result<Taken>> keep_waited(core::LockRequest request,
                                  LineUse use,
                                  Token token,
                                  TimePoint sent_at);
  Task<void> cancel(std::shared_ptr<Line> line, std::shared_ptr<Waiting> waiting);
  Task<AcquireError> refuse(Errc code, LockName name);
  void keep(const core::LockRequest& request, LineUse use, Token token, Held::Note note);
  TimePoint attempt_end(TimePoint answer_by) const;

  Env& env_;
  std::shared_ptr<PostgresPort> port_;
  Settings settings_;
  std::shared_ptr<Holdings> holdings_;
  std::shared_ptr<Lines> lines_;
};

}  // namespace holdfast::postgres::advisory
