#include "core/lease_session.h"

#include <utility>

namespace holdfast::core {

LeaseSession::LeaseSession(Env& env, std::shared_ptr<LeaseEngine> engine)
    : env_{env}, engine_{std::move(engine)}, queue_{env} {}

SessionKeeper& LeaseSession::keeper(Millis ttl) {
  return keepers_.try_emplace(ttl, env_, engine_, ttl).first->second;
}

LeaseSession::Listener LeaseSession::releasing_when_lost(HeldLease lease,
                                                         Millis ttl,
                                                         Listener listener) const {
  return [engine = engine_, lease = std::move(lease), ttl, listener = std::move(listener)](
             const LeaseEvent& event) {
    // Gone may mean from most of several servers.
    if (event.state == LeaseState::lost) engine->abandon(lease.name, lease.owner, ttl);
    if (listener) listener(event);
  };
}

Task<Result<LeaseSession::Lease, AcquireError>> LeaseSession::try_acquire(
    LockName name, Millis ttl, TimePoint answer_by, std::stop_token stop, Listener listener) {
  const auto self = shared_from_this();
  const auto turn = co_await queue_.enter(name, Mode::exclusive, answer_by, std::move(stop));
  if (!turn) co_return Unexpected{turn.error()};
  const Owner owner = env_.fresh_owner();
  auto grant = co_await engine_->try_acquire(name, owner, ttl, answer_by);
  if (!grant) co_return Unexpected{std::move(grant).error()};
  const HeldLease lease{.name = name, .owner = owner, .token = grant->token};
  Listener careful = releasing_when_lost(lease, ttl, std::move(listener));
  co_return keeper(ttl).keep(lease, grant->sent_at, std::move(careful));
}

Task<ReleaseOutcome> LeaseSession::release(Lease lease, TimePoint answer_by) {
  const auto self = shared_from_this();
  const LeaseState before = lease->state(env_.now());
  keeper(std::chrono::duration_cast<Millis>(lease->ttl())).forget(*lease);
  if (before == LeaseState::released) co_return ReleaseOutcome::released;
  if (before == LeaseState::lost) co_return ReleaseOutcome::already_lost;
  co_return co_await engine_->release(lease->held(), lease->valid_until(), answer_by);
}

}  // namespace holdfast::core
