#include "engines/etcd/etcd_engine.h"

#include <algorithm>
#include <utility>

#include "engines/etcd/attentive_port.h"
#include "engines/etcd/contention.h"
#include "engines/etcd/etcd_parts.h"
#include "engines/etcd/holdings.h"

namespace holdfast::etcd {

namespace {

/// Hears of the end of its session for as long as this lives.
class Contending {
 public:
  Contending(std::shared_ptr<Parts> parts, const std::shared_ptr<Contention>& contention)
      : parts_{std::move(parts)},
        place_{parts_->contending.insert(parts_->contending.end(), contention)} {}
  ~Contending() { parts_->contending.erase(place_); }
  Contending(const Contending&) = delete;
  Contending& operator=(const Contending&) = delete;

 private:
  std::shared_ptr<Parts> parts_;
  std::list<std::weak_ptr<Contention>>::iterator place_;
};

struct Renewed {
  std::shared_ptr<Session> session;
  Result<void> result{};
};

const Renewed* find(const std::vector<Renewed>& renewed, const Own& own) {
  const auto found = std::ranges::find(renewed, own.use.session(), &Renewed::session);
  return found == renewed.end() ? nullptr : &*found;
}

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
  const Sessions::Terms terms{
      .timeout = settings.timeout, .idle = settings.idle, .retry = settings.retry};
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
  const Contending contending{parts_, contention};
  auto won = co_await contention->run(wait_until, stop);
  if (!won) co_return Unexpected{std::move(won).error()};
  const auto session = won->use.session();
  const core::Grant grant{.token = Token{static_cast<std::uint64_t>(won->place.created)},
                          .sent_at = session->confirmed_at(),
                          .valid_until = session->valid_until(),
                          .ttl = session->ttl()};
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
  std::vector<Renewed> renewed;
  for (const core::HeldLease& lease : leases) {
    const Own* const own = holdings_->find(lease.owner);
    if (own != nullptr && find(renewed, *own) == nullptr) renewed.push_back({own->use.session()});
  }
  // Soon enough to try another endpoint while the lease stands.
  const Millis patience = std::min(parts_->settings.timeout, std::max(ttl / 6, Millis{100}));
  std::size_t answered = 0;
  Error failure{};
  for (auto& [session, result] : renewed) {
    const TimePoint by = std::min(answer_by, env_.now() + patience);
    result = co_await parts_->sessions->renew(session, by);
    if (result) ++answered;
    if (!result) failure = result.error();
  }
  if (!renewed.empty() && answered == 0) co_return Unexpected{failure};
  std::vector<core::Fate> fates;
  for (const core::HeldLease& lease : leases) {
    const Own* const own = holdings_->find(lease.owner);
    const Renewed* const session = own == nullptr ? nullptr : find(renewed, *own);
    if (session == nullptr) {
      fates.push_back(core::Fate::gone);
    } else if (!session->result) {
      fates.push_back(core::Fate::unknown);
    } else {
      fates.push_back(core::Fate::renewed);
      if (!own->listening) holdings_->attend(lease.owner);
    }
  }
  co_return fates;
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
