// Sessions: the leases of this process at an etcd cluster, one for each effective TTL.
//
// etcd counts whole seconds and has a shortest TTL of its own, which is learnt from its answers.
//
// Thread safety: as Env. Lifetime: the Env outlives it; tasks under way keep it alive.

#pragma once

#include <functional>
#include <memory>

#include "core/kept_sessions.h"
#include "engines/etcd/etcd_port.h"
#include "engines/etcd/etcd_session.h"

namespace holdfast::core {

extern template class KeptSessions<etcd::Session>;

}  // namespace holdfast::core

namespace holdfast::etcd {

class Sessions final : public core::KeptSessions<Session> {
 public:
  Sessions(Env& env,
           std::shared_ptr<EtcdPort> port,
           core::SessionTerms terms,
           std::function<void(const SharedSession&)> on_end)
      : KeptSessions{env, terms, std::move(on_end)}, port_{std::move(port)} {}

  /// With one request.
  Task<Result<void>> renew(SharedSession session, TimePoint answer_by) override;

  /// Does not keep this one alive any more: it lives on by its TTL alone.
  void leave_alone(const SharedSession& session) { forget(session); }

 private:
  Millis effective(Millis ttl) const override;
  Task<Result<SharedSession>> make(Millis ttl, TimePoint answer_by) override;
  void dismiss(const SharedSession& session) override;
  Error no_answer(const std::optional<Error>& last) const override;
  Error too_slow(Millis ttl) const override;
  TimePoint renewed_by(const Session& session) const override;
  static Task<void> revoke(std::shared_ptr<Sessions> self, SharedSession session);

  std::shared_ptr<EtcdPort> port_;
  /// The shortest TTL that the server is known to give.
  Millis shortest_{0};
};

}  // namespace holdfast::etcd
