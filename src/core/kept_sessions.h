// KeptSessions: the sessions of this process at one engine, one for each effective TTL.
//
// A session is made when a lock needs it, and kept alive while a lock relies on it or is waited
// for, and a while longer. How one is made, renewed and closed is up to the engine.
//
// An engine's source includes kept_sessions_impl.h and instantiates the template for its Session.
//
// Thread safety: as Env. Lifetime: the Env outlives it; tasks under way keep it alive.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/alarm.h"
#include "base/backoff.h"
#include "base/env.h"
#include "core/session_use.h"
#include "holdfast/options.h"
#include "holdfast/result.h"

namespace holdfast::core {

struct SessionTerms {
  /// Of one request.
  Millis timeout;
  /// How long a new session is looked for.
  Millis patience;
  /// How long a session is kept that nobody uses.
  Millis idle;
  BackoffPolicy retry;
};

/// `Session`: a UsedSession with ttl(), valid_until(), due_at(), is_fresh(now) and end_as(reason).
template <class Session>
class KeptSessions : public std::enable_shared_from_this<KeptSessions<Session>> {
 public:
  using SharedSession = std::shared_ptr<Session>;

  /// `on_end`: told when a session that was in use is over. It may be empty.
  KeptSessions(Env& env, SessionTerms terms, std::function<void(const SharedSession&)> on_end)
      : env_{env},
        terms_{terms},
        on_end_{std::move(on_end)},
        changed_{std::make_shared<Alarm>(env)} {}
  virtual ~KeptSessions() { changed_->ring(); }
  KeptSessions(const KeptSessions&) = delete;
  KeptSessions& operator=(const KeptSessions&) = delete;

  /// One that a lock may rely on, with that TTL as far as the engine grants it: the process's, or
  /// for a detached lease one of its own. An unanswered request is repeated until `answer_by`.
  ///
  /// unavailable, unknown_outcome: no answer. denied, no_space, corrupt, internal: refused.
  Task<Result<SessionUse<Session>>> enter(Millis ttl, LeaseKind kind, TimePoint answer_by);

  /// Keeps the session alive. Success, too, when it is found to be over then. Failures: no answer;
  /// the session is as it was.
  virtual Task<Result<void>> renew(SharedSession session, TimePoint answer_by) = 0;

  /// The session is over.
  void end(const SharedSession& session, LossReason reason);
  void end_all(LossReason reason);
  /// Ends it, at the server, too, if nothing may rely on it any more. Whether it is over.
  bool expire(const SharedSession& session);
  /// Ends it at the server, and all that belongs to it.
  void close(const SharedSession& session);

 protected:
  struct Care {
    SharedSession session;
    TimePoint ask_at{TimePoint::min()};
    std::uint32_t attempts{0};
  };

  /// As the engine is known to grant it.
  virtual Millis effective(Millis ttl) const = 0;
  virtual Task<Result<SharedSession>> make(Millis ttl, TimePoint answer_by) = 0;
  /// It is over: the engine lets go of what it has of it.
  virtual void dropped(const SharedSession&) {}
  /// The same, and it is to be ended at the server.
  virtual void dismiss(const SharedSession& session) = 0;
  /// What is told when there was no answer in time. `last`: what was answered before, if anything.
  virtual Error no_answer(const std::optional<Error>& last) const = 0;
  virtual Error too_slow(Millis ttl) const = 0;
  /// By when a renewal is to be answered.
  virtual TimePoint renewed_by(const Session& session) const = 0;
  /// When to look again at one that cannot be renewed at present.
  virtual std::optional<TimePoint> mend(const SharedSession&, const Care&) { return std::nullopt; }

  void take_in(SharedSession session);
  /// Does not keep it alive any more.
  void forget(const SharedSession& session);
  Care* care_of(const SharedSession& session);
  const std::map<Millis, SharedSession>& shared() const { return shared_; }

  Env& env_;
  SessionTerms terms_;
  /// To be rung when something is due earlier than before.
  const std::shared_ptr<Alarm>& changed() const { return changed_; }

 private:
  /// What several wait for: that there is a session for them.
  struct Inquiry {
    std::optional<Result<void>> answer;
    std::vector<std::shared_ptr<Alarm>> waiting;
  };
  using Self = std::shared_ptr<KeptSessions>;

  SharedSession current(Millis ttl) const;
  /// Empty: no answer until then.
  Task<std::optional<Result<void>>> ask_for(Millis ttl, TimePoint answer_by);
  static Task<void> inquire(Self self, Millis ttl, std::shared_ptr<Inquiry> inquiry);
  void tell_end(const SharedSession& session);
  TimePoint look_after(const SharedSession& session, TimePoint now);
  TimePoint look_after_all();
  static Task<void> keep_up(std::weak_ptr<KeptSessions> weak, std::shared_ptr<Alarm> changed);
  static Task<void> renew_in_time(Self self, SharedSession session);

  std::function<void(const SharedSession&)> on_end_;
  std::map<Millis, SharedSession> shared_;
  /// What is kept alive: these, and those of detached leases that are waited for.
  std::vector<Care> cared_for_;
  std::map<Millis, std::shared_ptr<Inquiry>> inquiries_;
  bool keeping_up_{false};
  std::shared_ptr<Alarm> changed_;
};

}  // namespace holdfast::core
