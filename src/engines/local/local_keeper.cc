// The keeper: what the backend does in the background. Everything here but add() and remove() runs
// on the membership's thread.

#include <algorithm>

#include "core/session_clock.h"
#include "engines/local/local_backend.h"
#include "engines/local/local_lease.h"
#include "engines/local/waiting.h"

namespace holdfast::local {

namespace {

// Requires: the backend's mutex is held, so that a plain read and write will do.
void count(SessionEntry* entry, std::int64_t change) {
  if (entry == nullptr) return;
  entry->users.store(entry->users.load(std::memory_order_relaxed) + change);
}

}  // namespace

// An acquisition without a thread of its own.
struct LocalBackend::AsyncWait {
  AsyncWait(Engine& engine,
            std::string_view name,
            const AcquireOptions& options,
            std::stop_token stop_in,
            AcquireCallback callback_in,
            const Ticket& ticket,
            TimePoint now)
      : asked_at{now},
        waiting{engine, name, options, Waiting::Wake::mail, ticket, patience(now, options.wait)},
        stop{std::move(stop_in)},
        callback{std::move(callback_in)} {}

  /// Precondition: it does not wait any more.
  AcquireResult result(LocalBackend& backend,
                       Waiting::Progress progress,
                       TimePoint now,
                       core::Met met) const {
    if (auto* error = std::get_if<AcquireError>(&progress)) return Unexpected{std::move(*error)};
    const Arrival arrival{asked_at, std::max(now, asked_at), met};
    return std::shared_ptr<LeaseCore>{
        backend.make_lease(waiting.name(), waiting.options(), std::get<Ticket>(progress), arrival)};
  }

  TimePoint asked_at;
  Waiting waiting;
  std::stop_token stop;
  AcquireCallback callback;
  std::optional<std::stop_callback<std::function<void()>>> on_stop;
};

void LocalBackend::add(LocalLease& lease) {
  const std::lock_guard lock{mutex_};
  count(lease.session_entry(), 1);
  if (lease.session_entry() == nullptr) {
    engine_->membership().wake();
  } else {
    engine_->sessions().attend(*lease.session_entry());
  }
  lease.next = leases_;
  if (leases_ != nullptr) leases_->previous = &lease;
  leases_ = &lease;
}

void LocalBackend::remove(LocalLease& lease) {
  const std::lock_guard lock{mutex_};
  count(lease.session_entry(), -1);
  (lease.previous != nullptr ? lease.previous->next : leases_) = lease.next;
  if (lease.next != nullptr) lease.next->previous = lease.previous;
}

void LocalBackend::add(Waiting& waiting) {
  const std::lock_guard lock{mutex_};
  count(waiting.session_entry(), 1);
  engine_->sessions().attend(*waiting.session_entry());
  waiters_.push_back(&waiting);
}

void LocalBackend::remove(Waiting& waiting) {
  const std::lock_guard lock{mutex_};
  count(waiting.session_entry(), -1);
  waiters_.remove(&waiting);
}

Rest LocalBackend::keep() {
  const TimePoint now = BootClock::now();
  Rest rest;
  keep_sessions(now, rest);
  look_at_leases(now, rest);
  look_at_waiters(now);
  advance_async(now, rest);
  // Not on this thread, which must not wait for the disk. A failure to reserve is the failure of
  // whoever needs the next token; it is told there.
  if (engine_->mint().asked()) {
    dispatcher_->post([this] { static_cast<void>(engine_->mint().reserve_if_asked()); });
  }
  return rest;
}

void LocalBackend::keep_sessions(TimePoint now, Rest& rest) {
  const bool tick = now >= next_tick_;
  engine_->sessions().for_each([&](SessionEntry& entry) { keep_session(entry, now, rest); });
  if (!tick) return;
  engine_->bury_the_dead(now);
  if (rest.until != kNever && engine_->file().deleted()) deleted_.store(true);
  next_tick_ = rest.until == kNever ? TimePoint{} : rest.until;
}

void LocalBackend::keep_session(SessionEntry& entry, TimePoint now, Rest& rest) {
  entry.renewed = false;
  const bool in_use = entry.users.load() > 0;
  const bool used = entry.used.exchange(false);
  const Ref ref = entry.current();
  if (ref == 0 || (!in_use && !used)) {
    entry.dormant.store(true);
    // Whoever came before they could see that had nobody to wake.
    const bool unseen = entry.used.load() || entry.users.load() > 0;
    if (!unseen || entry.current() == 0) return;
    entry.dormant.store(false);
    return keep_session(entry, now, rest);
  }
  Lifeline& line = engine_->file().at<Session>(ref).lifeline;
  core::SessionClock clock{deadline_of(line) - entry.ttl(), entry.ttl()};
  if (has_expired(line)) {
    rest.until = std::min(rest.until, now + entry.ttl() / 3);
    return;
  }
  if (clock.state(now) == LeaseState::lost) {
    // Too late by our own clock: its leases are lost together, before others may find it expired.
    // Nobody relies on an idle session: its next user renews it.
    if (in_use) expire_if_due(line, now);
    const TimePoint next =
        in_use && now < deadline_of(line) ? deadline_of(line) : now + entry.ttl() / 3;
    rest.until = std::min(rest.until, next);
    return;
  }
  if (now >= clock.renew_at() && local::renew(line, now + entry.ttl()) == Renewal::renewed) {
    clock.renewed(now, entry.ttl());
    entry.renewed = true;
  }
  rest.until = std::min(rest.until, clock.renew_at());
}

// Under the mutex: a lease that is being destroyed waits for it, and is still whole.
void LocalBackend::look_at_leases(TimePoint now, Rest& rest) {
  const std::lock_guard lock{mutex_};
  for (LocalLease* lease = leases_; lease != nullptr; lease = lease->next) {
    if (deleted_.load()) lease->lose(LossReason::gone);
    if (const SessionEntry* const entry = lease->session_entry(); entry && entry->renewed) {
      lease->renewed();
    }
    rest.until = std::min(rest.until, lease->keep(now));
  }
}

void LocalBackend::look_at_waiters(TimePoint now) {
  const std::lock_guard lock{mutex_};
  for (Waiting* waiting : waiters_) waiting->recheck(now);
}

void LocalBackend::async_acquire(std::string_view name,
                                 const AcquireOptions& options,
                                 std::stop_token stop,
                                 AcquireCallback callback) {
  if (auto checked = usable(); !checked) return callback(Unexpected{checked.error()});
  const TimePoint now = BootClock::now();
  auto ticket = engine_->enter(name, to_request(options, Waiting::Wake::mail), now);
  if (!ticket) return callback(Unexpected{ticket.error()});
  if (engine_->take_if_first(*ticket)) {
    return callback(std::shared_ptr<LeaseCore>{make_lease(name, options, *ticket, {now, now})});
  }
  auto wait =
      std::make_shared<AsyncWait>(*engine_, name, options, stop, std::move(callback), *ticket, now);
  // A detached lease is never known to be first: who meets nobody has not waited all the same.
  Waiting::Progress progress = wait->waiting.advance(now, stop);
  if (std::holds_alternative<Ticket>(progress)) {
    return wait->callback(wait->result(*this, std::move(progress), now, core::Met::nobody));
  }
  if (std::holds_alternative<AcquireError>(progress)) {
    return tell(wait, wait->result(*this, std::move(progress), now, core::Met::others));
  }
  wait->on_stop.emplace(stop, [this] { engine_->membership().wake(); });
  {
    const std::lock_guard lock{mutex_};
    count(wait->waiting.session_entry(), 1);
    async_waits_.push_back(wait);
  }
  engine_->membership().wake();
}

// The backend is going: nobody is left to wait for them.
void LocalBackend::end_async() {
  for (const auto& wait : std::exchange(async_waits_, {})) {
    wait->waiting.abandon();
    dispatcher_->post([wait] {
      wait->on_stop.reset();
      wait->callback(Unexpected{Error{Errc::shutting_down, "the client was destroyed"}});
    });
  }
}

void LocalBackend::advance_async(TimePoint now, Rest& rest) {
  std::vector<std::shared_ptr<AsyncWait>> waits;
  {
    const std::lock_guard lock{mutex_};
    waits.assign(async_waits_.begin(), async_waits_.end());
  }
  for (const auto& wait : waits) {
    Waiting::Progress progress = wait->waiting.advance(now, wait->stop);
    if (std::holds_alternative<std::monostate>(progress)) {
      const Standing& standing = wait->waiting.standing();
      rest.until = std::min(rest.until, wait->waiting.look_again());
      rest.words.insert(rest.words.end(),
                        standing.lives.begin(),
                        standing.lives.begin() + static_cast<std::ptrdiff_t>(standing.lives_count));
      continue;
    }
    {
      const std::lock_guard lock{mutex_};
      count(wait->waiting.session_entry(), -1);
      async_waits_.remove(wait);
    }
    tell(wait, wait->result(*this, std::move(progress), now, core::Met::others));
  }
}

void LocalBackend::tell(const std::shared_ptr<AsyncWait>& wait, AcquireResult result) {
  dispatcher_->post([wait, outcome = std::make_shared<AcquireResult>(std::move(result))] {
    wait->on_stop.reset();
    wait->callback(std::move(*outcome));
  });
}

}  // namespace holdfast::local
