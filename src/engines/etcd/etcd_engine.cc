#include "engines/etcd/etcd_engine.h"

#include <algorithm>
#include <utility>

#include "core/enlisted.h"
#include "core/session_renewal.h"
#include "engines/etcd/attentive_port.h"
#include "engines/etcd/contention.h"
#include "engines/etcd/etcd_parts.h"
#include "engines/etcd/holdings.h"

namespace holdfast::etcd {

namespace {

void tell_of_end(Parts& parts, Holdings& holdings, const std::shared_ptr<Session>& session) {
  for (const auto& weak : parts.contending) {
    if (const auto waiting = weak.lock()) waiting->hear_of_end(session);
  }
  holdings.hear_of_end(session);
}

}  // namespace

EtcdEngine::EtcdEngine(Env& env, std::shared_ptr<EtcdPort> port, Settings settings)
    : env_{env},
      parts_{std::make_shared<Parts>(
          Parts{.env = env, .port = {}, .keys = Keys{settings.prefix}, .settings = settings})},
      holdings_{std::make_shared<Holdings>(parts_)} {
  // Requests under way outlive the engine, and then nobody is left to care.
  const auto on_back = [weak = std::weak_ptr{parts_}] {
    if (const auto parts = weak.lock()) parts->sessions->end_all(LossReason::rolled_back);
  };
  AttentivePort::Terms heed{.patience = settings.timeout, .key = settings.prefix + '\x01'};
  parts_->port = std::make_shared<AttentivePort>(env, std::move(port), std::move(heed), on_back);
  const core::SessionTerms terms{.timeout = settings.timeout,
                                 .patience = settings.patience,
                                 .idle = settings.idle,
                                 .retry = settings.retry};
  parts_->sessions = std::make_shared<Sessions>(
      env,
      parts_->port,
      terms,
      [to = std::weak_ptr{parts_}, alive = std::weak_ptr{holdings_}](const auto& session) {
        const auto parts = to.lock();
        const auto holdings = alive.lock();
        if (parts && holdings) tell_of_end(*parts, *holdings, session);
      });
  parts_->watches = std::make_shared<KeyWatches>(env, parts_->port, settings.look_again);
}

EtcdEngine::~EtcdEngine() = default;

void EtcdEngine::tell(std::weak_ptr<core::LeaseNews> news) { holdings_->tell(std::move(news)); }

Task<Result<core::Grant, AcquireError>> EtcdEngine::acquire(core::LockRequest request,
                                                            TimePoint wait_until,
                                                            std::stop_token stop) {
  const auto self = shared_from_this();
  if (request.lock_delay > Millis{0}) {
    co_return Unexpected{AcquireError{Errc::unsupported, "etcd has no lock-delay"}};
  }
  const auto contention = std::make_shared<Contention>(parts_, request);
  // Hears of the end of its session meanwhile.
  const core::Enlisted contending{parts_, parts_->contending, contention};
  auto won = co_await contention->run(wait_until, stop);
  if (!won) co_return Unexpected{std::move(won).error()};
  const auto session = won->use.session();
  const core::Grant grant{.token = Token{static_cast<std::uint64_t>(won->place.created)},
                          .sent_at = session->confirmed_at(),
                          .valid_until = session->valid_until(),
                          .ttl = session->ttl(),
                          .met = contention->met()};
  if (request.kind == LeaseKind::detached) {
    parts_->sessions->leave_alone(session);
  } else {
    holdings_->add(request.owner, *std::move(won));
  }
  co_return grant;
}

Task<Result<std::vector<core::Fate>>> EtcdEngine::renew(std::vector<core::HeldLease> leases,
                                                        Millis ttl,
                                                        TimePoint answer_by) {
  const auto self = shared_from_this();
  // Soon enough to try another endpoint while the lease stands.
  const Millis patience = std::min(parts_->settings.timeout, std::max(ttl / 6, Millis{100}));
  co_return co_await core::renew_sessions(
      env_, *holdings_, *parts_->sessions, std::move(leases), patience, answer_by);
}

Task<ReleaseOutcome> EtcdEngine::release(core::HeldLease lease,
                                         TimePoint valid_until,
                                         TimePoint answer_by) {
  const auto self = shared_from_this();
  std::optional<Own> own = holdings_->take(lease.owner);
  if (!own) co_return ReleaseOutcome::already_lost;
  own->listening = {};
  const Place place = own->place;
  const auto outcome = co_await parts_->leave(place, valid_until, answer_by);
  if (outcome == ReleaseOutcome::unknown) {
    Parts::leave_at_last(parts_, own->place, own->use.session());
  }
  co_return outcome;
}

void EtcdEngine::abandon(LockName, Owner owner, Millis) {
  const std::optional<Own> own = holdings_->take(owner);
  if (!own || parts_->sessions->expire(own->use.session())) return;
  Parts::leave_at_last(parts_, own->place, own->use.session());
}

}  // namespace holdfast::etcd
