// Sessions: the sessions of this process at a ZooKeeper ensemble, one for each effective TTL.
//
// The servers have a range of TTLs of their own, which is learnt from their answers. Past its
// deadline a session is over, whatever its connection says.
//
// Thread safety: as Env. Lifetime: the Env outlives it; tasks under way keep it alive.

#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "core/kept_sessions.h"
#include "engines/zookeeper/zookeeper_port.h"
#include "engines/zookeeper/zookeeper_session.h"

namespace holdfast::core {

extern template class KeptSessions<zookeeper::Session>;

}  // namespace holdfast::core

namespace holdfast::zookeeper {

class Sessions final : public core::KeptSessions<Session> {
 public:
  Sessions(Env& env,
           std::shared_ptr<ZookeeperPort> port,
           core::SessionTerms terms,
           std::function<void(const SharedSession&)> on_end)
      : KeptSessions{env, terms, std::move(on_end)}, port_{std::move(port)} {}
  ~Sessions() override;

  /// Opens a session, or resumes one, that nobody keeps alive: leave_alone() or close() it.
  /// lost: the session to be resumed is over. Otherwise as enter().
  Task<Result<SharedSession>> open(SessionAsk ask, TimePoint answer_by);

  /// With one request; before that is due, by reconnect().
  Task<Result<void>> renew(SharedSession session, TimePoint answer_by) override;

  /// Connects the session anew, so that it is sure to last for its TTL from now. Failures as
  /// renew().
  Task<Result<void>> reconnect(SharedSession session, TimePoint answer_by);

  /// Does not keep this one alive any more: it lives on by its TTL alone.
  void leave_alone(const SharedSession& session);

 private:
  Millis effective(Millis ttl) const override;
  Task<Result<SharedSession>> make(Millis ttl, TimePoint answer_by) override;
  void dropped(const SharedSession& session) override;
  void dismiss(const SharedSession& session) override;
  Error no_answer(const std::optional<Error>& last) const override;
  Error too_slow(Millis ttl) const override;
  TimePoint renewed_by(const Session& session) const override;
  std::optional<TimePoint> mend(const SharedSession& session, const Care& care) override;

  void learn(Millis asked, Millis granted);
  void hear(const SharedSession& session, const SessionEvent& event);
  Task<Result<void>> beat(SharedSession session, TimePoint answer_by);
  /// With another handle, and so perhaps at another server.
  void open_again(const SharedSession& session, Error why);
  /// Leaves it some time to connect.
  void give_time(const SharedSession& session);
  static Task<void> linger(std::shared_ptr<Sessions> self, SharedSession session);

  std::shared_ptr<ZookeeperPort> port_;
  /// What the servers are known to grant.
  Millis shortest_{0};
  Millis longest_{Millis::max()};
  /// What was last told of the way to the servers, unless one was found since.
  std::optional<Error> trouble_{};
};

}  // namespace holdfast::zookeeper
