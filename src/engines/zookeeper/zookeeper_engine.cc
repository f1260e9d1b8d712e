#include "engines/zookeeper/zookeeper_engine.h"

#include <algorithm>
#include <utility>

#include "core/enlisted.h"
#include "core/session_renewal.h"
#include "engines/zookeeper/contention.h"
#include "engines/zookeeper/holdings.h"
#include "engines/zookeeper/zookeeper_parts.h"

namespace holdfast::zookeeper {
namespace {

void tell_of_end(Parts& parts, Holdings& holdings, const std::shared_ptr<Session>& session) {
  for (const auto& weak : parts.contending) {
    if (const auto waiting = weak.lock()) waiting->hear_of_end(session);
  }
  holdings.hear_of_end(session);
}

}  // namespace

ZookeeperEngine::ZookeeperEngine(Env& env, std::shared_ptr<ZookeeperPort> port, Settings settings)
    : env_{env},
      parts_{std::make_shared<Parts>(
          Parts{.env = env, .nodes = Nodes{settings.prefix}, .settings = settings})},
      holdings_{std::make_shared<Holdings>(parts_)} {
  const core::SessionTerms terms{.timeout = settings.timeout,
                                 .patience = settings.patience,
                                 .idle = settings.idle,
                                 .retry = settings.retry};
  // Requests under way outlive the engine, and then nobody is left to care.
  auto on_end = [to = std::weak_ptr{parts_},
                 alive = std::weak_ptr{holdings_}](const auto& session) {
    const auto parts = to.lock();
    const auto holdings = alive.lock();
    if (parts && holdings) tell_of_end(*parts, *holdings, session);
  };
  parts_->sessions = std::make_shared<Sessions>(env, std::move(port), terms, std::move(on_end));
}

ZookeeperEngine::~ZookeeperEngine() = default;

void ZookeeperEngine::tell(std::weak_ptr<core::LeaseNews> news) {
  holdings_->tell(std::move(news));
}

Task<Result<core::Grant, AcquireError>> ZookeeperEngine::acquire(core::LockRequest request,
                                                                 TimePoint wait_until,
                                                                 std::stop_token stop) {
  const auto self = shared_from_this();
  if (request.lock_delay > Millis{0}) {
    co_return Unexpected{AcquireError{Errc::unsupported, "ZooKeeper has no lock-delay"}};
  }
  auto lock = parts_->nodes.lock(request.name);
  if (!lock) co_return Unexpected{AcquireError{lock.error()}};
  const auto contention = std::make_shared<Contention>(parts_, request, *std::move(lock));
  // Hears of the end of its session meanwhile.
  const core::Enlisted contending{parts_, parts_->contending, contention};
  auto won = co_await contention->run(wait_until, stop);
  if (!won) co_return Unexpected{std::move(won).error()};
  const auto session = won->use.session();
  const core::Confirmation confirmation = session->confirmation();
  const core::Grant grant{.token = Token{static_cast<std::uint64_t>(won->place.created)},
                          .sent_at = confirmation.sent_at,
                          .valid_until = session->valid_until(),
                          .ttl = session->ttl(),
                          .counts_from = confirmation.counts_from,
                          .met = contention->met()};
  if (request.kind == LeaseKind::detached) {
    parts_->sessions->leave_alone(session);
  } else {
    holdings_->add(request.owner, *std::move(won));
  }
  co_return grant;
}

Task<Result<std::vector<core::Fate>>> ZookeeperEngine::renew(std::vector<core::HeldLease> leases,
                                                             Millis ttl,
                                                             TimePoint answer_by) {
  const auto self = shared_from_this();
  // Soon enough to try another server while the lease stands.
  const Millis patience = std::min(parts_->settings.timeout, std::max(ttl / 6, Millis{100}));
  co_return co_await core::renew_sessions(
      env_, *holdings_, *parts_->sessions, std::move(leases), patience, answer_by);
}

core::Confirmation ZookeeperEngine::confirmed(const core::HeldLease& lease,
                                              TimePoint called_at) const {
  const Own* const own = holdings_->find(lease.owner);
  if (own == nullptr) return {called_at, TimePoint::min()};
  return own->use->confirmation();
}

Task<ReleaseOutcome> ZookeeperEngine::release(core::HeldLease lease,
                                              TimePoint valid_until,
                                              TimePoint answer_by) {
  const auto self = shared_from_this();
  std::optional<Own> own = holdings_->take(lease.owner);
  if (!own) co_return ReleaseOutcome::already_lost;
  own->listening = {};
  const auto outcome = co_await parts_->leave(*own, valid_until, answer_by);
  if (outcome == ReleaseOutcome::unknown) {
    Parts::leave_at_last(parts_, own->place, own->use.session());
  }
  co_return outcome;
}

void ZookeeperEngine::abandon(LockName, Owner owner, Millis) {
  std::optional<Own> own = holdings_->take(owner);
  if (!own || parts_->sessions->expire(own->use.session())) return;
  own->listening = {};
  Parts::leave_at_last(parts_, own->place, own->use.session());
}

}  // namespace holdfast::zookeeper
