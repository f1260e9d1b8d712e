#include "engines/local/local_lease.h"

#include <algorithm>

#include "core/validity.h"
#include "engines/local/local_backend.h"
#include "holdfast/sequencer.h"

namespace holdfast::local {
namespace {

std::string lost_message(const std::string& name, LossReason reason) {
  return "the lease on \"" + name + "\" is lost: " + std::string{to_string(reason)};
}

}  // namespace

// What only leases that are listened to need. Made on first use.
struct LocalLease::Listener {
  std::stop_source stop;
  std::recursive_mutex mutex;
  std::function<void(const LeaseEvent&)> callback;
};

LocalLease::LocalLease(std::shared_ptr<LocalBackend> backend,
                       std::string_view name,
                       const AcquireOptions& options,
                       const Ticket& ticket)
    : backend_{std::move(backend)},
      name_{name},
      mode_{options.mode},
      ttl_{options.ttl},
      ticket_{ticket} {}

LocalLease::~LocalLease() {
  if (!backend_->forked()) {
    backend_->remove(*this);
    const LeaseState state = state_.load();
    const bool stands = state == LeaseState::held || state == LeaseState::jeopardy;
    if (stands && !detached_.load()) backend_->protocol().leave(ticket_);
    if (state == LeaseState::lost) leave_once();
  }
  delete listener_.load();
}

LocalLease::Listener& LocalLease::listener() const {
  Listener* known = listener_.load();
  if (known != nullptr) return *known;
  auto fresh = std::make_unique<Listener>();
  if (listener_.compare_exchange_strong(known, fresh.get())) return *fresh.release();
  return *known;
}

TimePoint LocalLease::valid_until() const {
  const LeaseState state = state_.load();
  const bool over = state == LeaseState::lost || state == LeaseState::released;
  if (over || backend_->forked()) return TimePoint{};
  return backend_->protocol().deadline(ticket_) - core::drift_allowance(ttl_);
}

std::optional<LossReason> LocalLease::loss(TimePoint now) const {
  const Mark mark = backend_->protocol().mark_of(ticket_);
  if (mark == Mark::broken) return LossReason::broken;
  if (mark != Mark::none || now >= valid_until()) return LossReason::expired;
  return std::nullopt;
}

LeaseState LocalLease::state() const {
  const LeaseState known = state_.load();
  if (known == LeaseState::lost || known == LeaseState::released) return known;
  if (backend_->forked()) {
    reason_.store(LossReason::abandoned);
    return LeaseState::lost;
  }
  const TimePoint now = BootClock::now();
  if (const auto reason = loss(now)) {
    const_cast<LocalLease*>(this)->lose(*reason);
    return state_.load();
  }
  return valid_until() - now < ttl_ / 3 ? LeaseState::jeopardy : LeaseState::held;
}

TimePoint LocalLease::keep(TimePoint now) {
  LeaseState known = state_.load();
  if (known == LeaseState::released || left_.load()) return kNever;
  if (known != LeaseState::lost) {
    if (const auto reason = loss(now)) {
      lose(*reason);
      known = LeaseState::lost;
    }
  }
  if (known == LeaseState::lost) {
    if (now >= leave_by_.load()) leave_once();
    return left_.load() ? kNever : leave_by_.load();
  }
  const TimePoint until = valid_until();
  const TimePoint jeopardy_at = until - ttl_ / 3;
  const LeaseState fresh = now < jeopardy_at ? LeaseState::held : LeaseState::jeopardy;
  if (known != fresh && state_.compare_exchange_strong(known, fresh)) {
    tell(fresh, LossReason::none);
  }
  return fresh == LeaseState::held ? jeopardy_at : until;
}

void LocalLease::renewed() {
  LeaseWitness* const observing = witness();
  const LeaseState known = state_.load();
  const bool stands = known == LeaseState::held || known == LeaseState::jeopardy;
  if (observing == nullptr || !stands) return;
  auto self = weak_from_this().lock();
  if (self == nullptr) return;
  backend_->dispatcher().post([self = std::move(self), observing] { observing->kept(*self); });
}

void LocalLease::lose(LossReason reason) {
  LeaseState known = state_.load();
  do {
    if (known == LeaseState::lost || known == LeaseState::released) return;
    reason_.store(reason);
    leave_by_.store(backend_->protocol().deadline(ticket_));
  } while (!state_.compare_exchange_weak(known, LeaseState::lost));
  tell(LeaseState::lost, reason);
  // Others are let in after the holder has been told. Nobody can be before the deadline, which is
  // later than the loss by the allowance for drift.
  auto self = weak_from_this().lock();
  if (self == nullptr) return leave_once();
  backend_->dispatcher().post([self = std::move(self)] { self->leave_once(); });
}

void LocalLease::leave_once() {
  if (left_.exchange(true)) return;
  if (reason_.load() == LossReason::expired) {
    backend_->protocol().vanish(ticket_);
  } else {
    backend_->protocol().leave(ticket_);
  }
}

void LocalLease::tell(LeaseState state, LossReason reason) {
  if (listener_.load() == nullptr) return;
  // Handed on at once: the last reference must not end here, where the keeper may hold its mutex.
  auto self = weak_from_this().lock();
  if (self == nullptr) return;
  backend_->dispatcher().post([self = std::move(self), state, reason] {
    Listener& listener = self->listener();
    if (state == LeaseState::lost) listener.stop.request_stop();
    const std::lock_guard lock{listener.mutex};
    const auto callback = listener.callback;
    if (callback) callback({.state = state, .reason = reason});
  });
}

std::stop_token LocalLease::stop_token() const {
  Listener& listener = this->listener();
  if (state_.load() == LeaseState::lost) listener.stop.request_stop();
  return listener.stop.get_token();
}

void LocalLease::on_event(std::function<void(const LeaseEvent&)> callback) {
  Listener& listener = this->listener();
  {
    const std::lock_guard lock{listener.mutex};
    listener.callback = std::move(callback);
  }
  if (state_.load() == LeaseState::lost) tell(LeaseState::lost, reason_.load());
}

Result<void> LocalLease::renew() {
  const LeaseState now_state = state();
  if (now_state == LeaseState::released) {
    return Unexpected{Error{Errc::lost, "the lease on \"" + name_ + "\" was released"}};
  }
  if (now_state == LeaseState::lost) {
    return Unexpected{Error{Errc::lost, lost_message(name_, reason_.load())}};
  }
  if (backend_->protocol().renew(ticket_, BootClock::now()) == Renewal::renewed) return {};
  lose(LossReason::expired);
  return Unexpected{Error{Errc::lost, lost_message(name_, reason_.load())}};
}

ReleaseOutcome LocalLease::release() {
  if (backend_->forked()) return ReleaseOutcome::already_lost;
  LeaseState known = state_.load();
  do {
    if (known == LeaseState::lost || known == LeaseState::released) return outcome_.load();
  } while (!state_.compare_exchange_weak(known, LeaseState::released));
  left_.store(true);
  const Mark mark = backend_->protocol().leave(ticket_);
  if (mark == Mark::left) {
    outcome_.store(ReleaseOutcome::released);
    if (listener_.load() != nullptr) tell(LeaseState::released, LossReason::none);
    return ReleaseOutcome::released;
  }
  const LossReason reason = mark == Mark::broken ? LossReason::broken : LossReason::expired;
  reason_.store(reason);
  state_.store(LeaseState::lost);
  tell(LeaseState::lost, reason);
  return ReleaseOutcome::already_lost;
}

Result<void> LocalLease::detach() {
  if (ticket_.kind == LeaseKind::session) {
    return Unexpected{Error{Errc::unsupported,
                            "the lease on \"" + name_ + "\" is a session's and ends with it",
                            "acquire a detached lease"}};
  }
  detached_.store(true);
  return {};
}

std::string LocalLease::sequencer() const {
  return to_string(Sequencer{.domain = backend_->domain(),
                             .name = name_,
                             .mode = mode_,
                             .token = ticket_.token,
                             .owner_fp = ticket_.owner.fingerprint()});
}

void LocalLease::drop() noexcept {
  if (!detached_.load()) release();
}

}  // namespace holdfast::local
