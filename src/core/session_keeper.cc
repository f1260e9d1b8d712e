#include "core/session_keeper.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/alarm.h"
#include "base/assert.h"
#include "base/backoff.h"

namespace holdfast::core {

namespace {

using Batch = std::vector<std::shared_ptr<KeptLease>>;

// How long an unanswered renewal keeps us from sending another, as a part of the TTL. Between the
// first renewal and the deadline there is room for four.
constexpr int kPatienceDivisor = 6;

constexpr BackoffPolicy retry_policy(Duration ttl) {
  return {.first = ttl / 60, .max = ttl / kPatienceDivisor};
}

std::vector<HeldLease> held_leases(const Batch& batch) {
  std::vector<HeldLease> leases;
  leases.reserve(batch.size());
  for (const auto& lease : batch) leases.push_back(lease->held());
  return leases;
}

TimePoint last_deadline(const Batch& batch) {
  TimePoint last = TimePoint::min();
  for (const auto& lease : batch) last = std::max(last, lease->valid_until());
  return last;
}

/// Who asked for a renewal.
enum class By : std::uint8_t { holder, keeper };

LossReason reason_of(Fate fate) {
  switch (fate) {
    case Fate::broken:
      return LossReason::broken;
    case Fate::restarted:
      return LossReason::restarted;
    case Fate::failed_over:
      return LossReason::failed_over;
    case Fate::evicted:
      return LossReason::evicted;
    case Fate::flushed:
      return LossReason::flushed;
    case Fate::clock_stepped:
      return LossReason::clock_stepped;
    case Fate::removed:
      return LossReason::removed;
    case Fate::revoked:
      return LossReason::revoked;
    case Fate::rolled_back:
      return LossReason::rolled_back;
    case Fate::renewed:
    case Fate::gone:
    case Fate::unknown:
      break;
  }
  return LossReason::gone;
}

}  // namespace

bool KeptLease::over() const {
  return told_.state == LeaseState::lost || told_.state == LeaseState::released;
}

LeaseState KeptLease::state(TimePoint now) const {
  return over() ? told_.state : clock_.state(now);
}

LossReason KeptLease::loss_reason(TimePoint now) const {
  if (over()) return told_.reason;
  return clock_.state(now) == LeaseState::lost ? LossReason::expired : LossReason::none;
}

void KeptLease::change_to(LeaseEvent event) {
  HOLDFAST_ASSERT(!over());
  if (event.state == told_.state) return;
  told_ = event;
  // The listener may replace or drop what it belongs to.
  const Listener listener = over() ? std::exchange(listener_, nullptr) : listener_;
  if (listener && event.state != LeaseState::released) listener(event);
}

// False: another thread has found the deadline passed, between our look at the clock and this.
bool KeptLease::renewed(Confirmation renewal, Duration ttl) {
  clock_.renewed(renewal, ttl);
  return deadline_->extend_to(clock_.deadline());
}

void KeptLease::tell_of_renewal() const {
  if (!tells_renewals_.load(std::memory_order_acquire)) return;
  if (const auto listener = on_renewal_.lock()) listener->renewed();
}

struct KeeperCore {
  KeeperCore(Env& env_in, std::shared_ptr<Renewer> renewer_in, Millis ttl_in)
      : env{env_in}, renewer{std::move(renewer_in)}, ttl{ttl_in}, alarm{env_in} {}

  void end(KeptLease& lease, LeaseEvent event) {
    if (lease.over()) return;
    std::erase_if(leases, [&](const auto& kept) { return kept.get() == &lease; });
    lease.change_to(event);
  }

  // Tells what time alone has changed.
  void tell(KeptLease& lease, TimePoint now) {
    if (lease.over()) return;
    const LeaseState state = lease.clock_.state(now);
    if (state == LeaseState::lost) {
      end(lease, {LeaseState::lost, LossReason::expired});
    } else {
      lease.change_to({state, LossReason::none});
    }
  }

  void tell_all(TimePoint now) {
    const Batch all = leases;
    for (const auto& lease : all) tell(*lease, now);
  }

  void answered(const Batch& batch, const std::vector<Fate>& fates, TimePoint sent_at, By by) {
    HOLDFAST_ASSERT(fates.size() == batch.size());
    const TimePoint now = env.now();
    if (std::ranges::count(fates, Fate::unknown) > 0) {
      failed();
    } else {
      attempts = 0;
      retry_at = TimePoint::min();
    }
    for (std::size_t i = 0; i < batch.size(); ++i) {
      KeptLease& lease = *batch[i];
      // First of all: an answer that comes after the deadline does not undo the loss.
      tell(lease, now);
      if (lease.over() || fates[i] == Fate::unknown) continue;
      if (fates[i] != Fate::renewed) {
        end(lease, {LeaseState::lost, reason_of(fates[i])});
        continue;
      }
      if (lease.renewed(renewer->confirmed(lease.held(), sent_at), ttl)) {
        tell(lease, now);
        if (by == By::keeper) lease.tell_of_renewal();
      } else {
        end(lease, {LeaseState::lost, LossReason::expired});
      }
    }
  }

  void failed() {
    const Duration delay = backoff_delay(retry_policy(ttl), attempts++, env.draw());
    retry_at = env.now() + delay;
  }

  TimePoint renewal_due() const {
    TimePoint due = TimePoint::max();
    for (const auto& lease : leases) due = std::min(due, lease->clock_.renew_at());
    return std::max(due, retry_at);
  }

  static TimePoint next_change(const KeptLease& lease) {
    const bool held = lease.told_.state == LeaseState::held;
    return held ? lease.clock_.jeopardy_at() : lease.clock_.deadline();
  }

  TimePoint next_event() const {
    TimePoint next = renewal_due();
    for (const auto& lease : leases) next = std::min(next, next_change(*lease));
    return next;
  }

  // One that looks too early looks again; most leases are over before anything is due.
  void look_by(const KeptLease& lease) {
    if (std::min(lease.clock_.renew_at(), next_change(lease)) < next_look) alarm.ring();
  }

  Env& env;
  std::shared_ptr<Renewer> renewer;
  Millis ttl;
  Alarm alarm;
  Batch leases{};
  bool watching{false};
  /// When the watch looks again by itself.
  TimePoint next_look{TimePoint::min()};
  std::uint32_t attempts{0};
  TimePoint retry_at{TimePoint::min()};
};

SessionKeeper::SessionKeeper(Env& env, std::shared_ptr<Renewer> renewer, Millis ttl)
    : core_{std::make_shared<KeeperCore>(env, std::move(renewer), ttl)} {}

SessionKeeper::~SessionKeeper() { stop(); }

std::shared_ptr<KeptLease> SessionKeeper::keep(HeldLease lease,
                                               Confirmation granted,
                                               Listener listener,
                                               Met met) {
  const SessionClock clock{granted, core_->ttl};
  const std::shared_ptr<KeptLease> kept{
      new KeptLease{std::move(lease), clock, std::move(listener), met}};
  kept->keeper_ = core_;
  core_->leases.push_back(kept);
  if (std::exchange(core_->watching, true)) {
    core_->look_by(*kept);
  } else {
    core_->env.spawn(watch(core_));
  }
  return kept;
}

Task<Result<void>> SessionKeeper::renew(std::shared_ptr<KeptLease> lease, TimePoint answer_by) {
  const std::shared_ptr<KeeperCore> core = lease->keeper_.lock();
  if (!core || lease->over()) co_return Unexpected{Error{Errc::lost}};
  const TimePoint sent_at = core->env.now();
  const Batch batch(1, lease);
  std::vector<HeldLease> leases = held_leases(batch);
  const auto answer = co_await core->renewer->renew(std::move(leases), core->ttl, answer_by);
  if (!answer) co_return Unexpected{answer.error()};
  core->answered(batch, *answer, sent_at, By::holder);
  core->alarm.ring();
  if (lease->over()) co_return Unexpected{Error{Errc::lost}};
  if (answer->front() == Fate::unknown) co_return Unexpected{Error{Errc::unknown_outcome}};
  co_return Result<void>{};
}

void SessionKeeper::forget(KeptLease& lease) {
  core_->tell(lease, core_->env.now());
  core_->end(lease, {LeaseState::released, LossReason::none});
}

void SessionKeeper::lose(const Owner& owner, LossReason reason) {
  const auto is_its = [&](const auto& lease) { return lease->held().owner == owner; };
  const auto found = std::ranges::find_if(core_->leases, is_its);
  if (found == core_->leases.end()) return;
  const std::shared_ptr<KeptLease> lease = *found;
  core_->end(*lease, {LeaseState::lost, reason});
}

void SessionKeeper::renew_now() {
  if (!core_->leases.empty()) core_->env.spawn(renew_all(core_));
}

void SessionKeeper::stop() {
  const Batch all = core_->leases;
  for (const auto& lease : all) core_->end(*lease, {LeaseState::lost, LossReason::abandoned});
  core_->alarm.ring();
}

Task<void> SessionKeeper::watch(std::shared_ptr<KeeperCore> core) {
  while (!core->leases.empty()) {
    const TimePoint now = core->env.now();
    core->tell_all(now);
    if (!core->leases.empty() && now >= core->renewal_due()) {
      core->retry_at = now + Duration{core->ttl} / kPatienceDivisor;
      core->env.spawn(renew_all(core));
    }
    if (core->leases.empty()) break;
    core->next_look = core->next_event();
    co_await core->alarm.wait_until(core->next_look);
  }
  core->watching = false;
}

Task<void> SessionKeeper::renew_all(std::shared_ptr<KeeperCore> core) {
  const Batch batch = core->leases;
  if (batch.empty()) co_return;
  // Taken before anything is sent: no server can have begun to count the TTL earlier.
  const TimePoint sent_at = core->env.now();
  std::vector<HeldLease> leases = held_leases(batch);
  const TimePoint answer_by = last_deadline(batch);
  const auto answer = co_await core->renewer->renew(std::move(leases), core->ttl, answer_by);
  if (answer) {
    core->answered(batch, *answer, sent_at, By::keeper);
  } else {
    core->failed();
  }
  core->alarm.ring();
}

}  // namespace holdfast::core
