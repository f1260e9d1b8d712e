#include "engines/zookeeper/zookeeper_engine.h"

#include <algorithm>
#include <utility>

#include "engines/zookeeper/contention.h"
#include "engines/zookeeper/holdings.h"
#include "engines/zookeeper/zookeeper_parts.h"

namespace holdfast::zookeeper {
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

ZookeeperEngine::ZookeeperEngine(Env& env, std::shared_ptr<ZookeeperPort> port, Settings settings)
    : env_{env},
      parts_{std::make_shared<Parts>(
          Parts{.env = env, .nodes = Nodes{settings.prefix}, .settings = settings})},
      holdings_{std::make_shared<Holdings>(parts_)} {
  const Sessions::Terms terms{.timeout = settings.timeout,
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
  const Contending contending{parts_, contention};
  auto won = co_await contention->run(wait_until, stop);
  if (!won) co_return Unexpected{std::move(won).error()};
  const auto session = won->use.session();
  const core::Confirmation confirmation = session->confirmation();
  const core::Grant grant{.token = Token{static_cast<std::uint64_t>(won->place.created)},
                          .sent_at = confirmation.sent_at,
                          .valid_until = session->valid_until(),
                          .ttl = session->ttl(),
                          .counts_from = confirmation.counts_from};
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
  std::vector<Renewed> renewed;
  for (const core::HeldLease& lease : leases) {
    const Own* const own = holdings_->find(lease.owner);
    if (own != nullptr && find(renewed, *own) == nullptr) renewed.push_back({own->use.session()});
  }
  // Soon enough to try another server while the lease stands.
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
      holdings_->attend(lease.owner);
    }
  }
  co_return fates;
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
