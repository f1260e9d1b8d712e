// Sessions: the sessions of this process at a ZooKeeper ensemble, one for each effective TTL.
//
// A session is opened when a lock needs it, and kept alive while a lock relies on it or is waited
// for, and a while longer. The servers have a range of TTLs of their own, which is learnt from
// their answers. Past its deadline a session is over, whatever its connection says.
//
// Thread safety: as Env. Lifetime: the Env outlives it; tasks under way keep it alive.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/alarm.h"
#include "base/backoff.h"
#include "base/env.h"
#include "engines/zookeeper/zookeeper_port.h"
#include "engines/zookeeper/zookeeper_session.h"
#include "holdfast/options.h"

namespace holdfast::zookeeper {

class Sessions : public std::enable_shared_from_this<Sessions> {
 public:
  using SharedSession = std::shared_ptr<Session>;

  struct Terms {
    /// Of one request.
    Millis timeout;
    /// How long a connection is looked for.
    Millis patience;
    /// How long a session is kept that nobody uses.
    Millis idle;
    BackoffPolicy retry;
  };

  /// `on_end`: told when a session that was in use is over. It may be empty.
  Sessions(Env& env,
           std::shared_ptr<ZookeeperPort> port,
           Terms terms,
           std::function<void(const SharedSession&)> on_end);
  ~Sessions();
  Sessions(const Sessions&) = delete;
  Sessions& operator=(const Sessions&) = delete;

  /// One that a lock may rely on, with that TTL as far as the servers grant it: the process's, or
  /// for a detached lease one of its own.
  ///
  /// unavailable: no server was reached. denied, corrupt, internal: refused.
  Task<Result<SessionUse>> enter(Millis ttl, LeaseKind kind, TimePoint answer_by);

  /// Opens a session, or resumes one, that nobody keeps alive: leave_alone() or close() it.
  /// lost: the session to be resumed is over. Otherwise as enter().
  Task<Result<SharedSession>> open(SessionAsk ask, TimePoint answer_by);

  /// Keeps the session alive, with one request; before that is due, by reconnect(). Success, too,
  /// when it is found to be over then. Failures: no answer; the session is as it was.
  Task<Result<void>> renew(SharedSession session, TimePoint answer_by);

  /// Connects the session anew, so that it is sure to last for its TTL from now. Failures as
  /// renew().
  Task<Result<void>> reconnect(SharedSession session, TimePoint answer_by);

  /// The session is over.
  void end(const SharedSession& session, LossReason reason);
  /// Ends it, at the server, too, if nothing may rely on it any more. Whether it is over.
  bool expire(const SharedSession& session);

  /// Does not keep this one alive any more: it lives on by its TTL alone.
  void leave_alone(const SharedSession& session);
  /// Ends the session at the server, and its nodes with it.
  void close(const SharedSession& session);

 private:
  struct Inquiry;

  Millis effective(Millis ttl) const;
  SharedSession current(Millis ttl) const;
  /// Empty: no answer until then.
  Task<std::optional<Result<void>>> ask_for(Millis ttl, TimePoint answer_by);
  static Task<void> inquire(std::shared_ptr<Sessions> self,
                            Millis ttl,
                            std::shared_ptr<Inquiry> inquiry);
  void learn(Millis asked, Millis granted);
  void hear(const SharedSession& session, const SessionEvent& event);
  void take_in(SharedSession session);
  void forget(const SharedSession& session);
  Task<Result<void>> beat(SharedSession session, TimePoint answer_by);
  /// With another handle, and so perhaps at another server.
  void open_again(const SharedSession& session, Error why);
  /// Leaves it some time to connect.
  void give_time(const SharedSession& session);
  static Task<void> linger(std::shared_ptr<Sessions> self, SharedSession session);

  TimePoint look_after(const SharedSession& session, TimePoint now);
  TimePoint look_after_all();
  static Task<void> keep_up(std::weak_ptr<Sessions> weak, std::shared_ptr<Alarm> changed);
  static Task<void> renew_in_time(std::shared_ptr<Sessions> self, SharedSession session);

  Env& env_;
  std::shared_ptr<ZookeeperPort> port_;
  Terms terms_;
  std::function<void(const SharedSession&)> on_end_;
  /// What the servers are known to grant.
  Millis shortest_{0};
  Millis longest_{Millis::max()};
  std::map<Millis, SharedSession> shared_;
  /// What is kept alive: these, and those of detached leases that are waited for.
  struct Care {
    SharedSession session;
    TimePoint ask_at{TimePoint::min()};
    std::uint32_t attempts{0};
  };
  std::vector<Care> cared_for_;
  std::map<Millis, std::shared_ptr<Inquiry>> inquiries_;
  /// What was last told of the way to the servers, unless one was found since.
  std::optional<Error> trouble_{};
  bool keeping_up_{false};
  std::shared_ptr<Alarm> changed_;
};

}  // namespace holdfast::zookeeper
