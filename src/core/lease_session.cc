#include "core/lease_session.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/backoff.h"

namespace holdfast::core {
namespace {

// Between attempts at an engine without a queue: short, and different for everybody.
constexpr BackoffPolicy kRetry{.first = Millis{20}, .max = Millis{250}};

}  // namespace

class LeaseSession::News final : public LeaseNews {
 public:
  explicit News(LeaseSession& session) : session_{session} {}

  void lost(const Owner& owner, LossReason reason) override {
    for (auto& [ttl, keeper] : session_.keepers_) keeper.lose(owner, reason);
  }
  void in_doubt() override {
    for (auto& [ttl, keeper] : session_.keepers_) keeper.renew_now();
  }

 private:
  LeaseSession& session_;
};

LeaseSession::LeaseSession(Env& env, std::shared_ptr<LeaseEngine> engine)
    : env_{env}, engine_{std::move(engine)}, queue_{env}, news_{std::make_shared<News>(*this)} {
  engine_->tell(news_);
}

LeaseSession::~LeaseSession() = default;

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

Task<Result<LeaseSession::Detached, AcquireError>> LeaseSession::take(Wanted wanted,
                                                                      LeaseKind kind,
                                                                      TimePoint wait_until,
                                                                      std::stop_token stop) {
  std::optional<LocalQueue::Turn> turn;
  Met met = Met::nobody;
  if (env_.now() < wait_until) {
    auto entered = co_await queue_.enter(wanted.name, wanted.claim.mode, wait_until, stop);
    if (!entered) co_return Unexpected{AcquireError{entered.error()}};
    turn = *std::move(entered);
    met = turn->met();
  }
  for (std::uint32_t attempt = 0;; ++attempt) {
    const LockRequest request{.name = wanted.name,
                              .owner = env_.fresh_owner(),
                              .ttl = wanted.ttl,
                              .note = wanted.note,
                              .claim = wanted.claim,
                              .lock_delay = wanted.lock_delay,
                              .kind = kind};
    auto grant = co_await engine_->acquire(request, wait_until, stop);
    if (grant) {
      if (met == Met::others) grant->met = met;
      const HeldLease lease{.name = wanted.name,
                            .owner = grant->owner.value_or(request.owner),
                            .token = grant->token,
                            .claim = wanted.claim,
                            .lock_delay = wanted.lock_delay};
      const Millis ttl = grant->ttl.value_or(wanted.ttl);
      co_return Detached{.lease = lease, .grant = *grant, .ttl = ttl};
    }
    // A timeout before its time is of a grant that came too late.
    const Errc code = grant.error().code;
    const bool in_vain = code == Errc::busy || code == Errc::timeout;
    if (!in_vain || env_.now() >= wait_until || stop.stop_requested()) {
      co_return Unexpected{std::move(grant).error()};
    }
    if (code == Errc::busy || grant.error().holder) met = Met::others;
    const TimePoint again_at = env_.now() + backoff_delay(kRetry, attempt, env_.draw());
    co_await env_.sleep_until(std::min(again_at, wait_until));
  }
}

Task<Result<LeaseSession::Lease, AcquireError>> LeaseSession::acquire(Wanted wanted,
                                                                      TimePoint wait_until,
                                                                      std::stop_token stop,
                                                                      Listener listener) {
  const auto self = shared_from_this();
  const auto taken =
      co_await take(std::move(wanted), LeaseKind::session, wait_until, std::move(stop));
  if (!taken) co_return Unexpected{taken.error()};
  Listener careful = releasing_when_lost(taken->lease, taken->ttl, std::move(listener));
  const TimePoint sent_at = taken->grant.sent_at;
  const Confirmation granted{sent_at, taken->grant.counts_from.value_or(sent_at)};
  co_return keeper(taken->ttl).keep(taken->lease, granted, std::move(careful), taken->grant.met);
}

Task<Result<LeaseSession::Detached, AcquireError>> LeaseSession::acquire_detached(
    Wanted wanted, TimePoint wait_until, std::stop_token stop) {
  const auto self = shared_from_this();
  co_return co_await take(std::move(wanted), LeaseKind::detached, wait_until, std::move(stop));
}

void LeaseSession::detach(KeptLease& lease) {
  keeper(std::chrono::duration_cast<Millis>(lease.ttl())).forget(lease);
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
