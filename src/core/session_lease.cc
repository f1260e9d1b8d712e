#include "core/session_lease.h"

#include <utility>

#include "base/assert.h"
#include "core/session_backend.h"
#include "core/validity.h"
#include "holdfast/sequencer.h"

namespace holdfast::core {
namespace {

bool is_over(LeaseEvent event) {
  return event.state == LeaseState::lost || event.state == LeaseState::released;
}

/// Who waits for the outcome of a release. Told in any case: one that is cut off is unknown.
class Waiter {
 public:
  explicit Waiter(ReleaseCallback callback) : callback_{std::move(callback)} {}
  ~Waiter() { tell(ReleaseOutcome::unknown); }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  void tell(ReleaseOutcome outcome) {
    if (const auto callback = std::exchange(callback_, nullptr)) callback(outcome);
  }

 private:
  ReleaseCallback callback_;
};

/// The clock that has this deadline.
SessionClock clock_until(TimePoint deadline, Duration ttl) {
  return {deadline - ttl + drift_allowance(ttl), ttl};
}

}  // namespace

SessionLease::SessionLease(std::shared_ptr<SessionBackend> backend,
                           Terms terms,
                           std::shared_ptr<KeptLease> kept)
    : backend_{std::move(backend)},
      terms_{std::move(terms)},
      kept_{std::move(kept)},
      deadline_{kept_->deadline()} {}

SessionLease::SessionLease(std::shared_ptr<SessionBackend> backend,
                           Terms terms,
                           TimePoint valid_until)
    : backend_{std::move(backend)},
      terms_{std::move(terms)},
      deadline_{std::make_shared<SharedDeadline>(valid_until)},
      alarm_{std::make_shared<Alarm>(backend_->env())} {}

SessionLease::~SessionLease() {
  if (backend_->forked()) {
    // What the Env's thread shares in may be in the middle of a change there, for ever.
    new std::shared_ptr<KeptLease>{std::move(kept_)};
    new std::shared_ptr<Alarm>{std::move(alarm_)};
    new std::shared_ptr<Answer<ReleaseOutcome>>{std::move(outcome_)};
    return;
  }
  drop();
  wake_watch();
  // Until it is released its listener has a share in the engine, which must not end on this thread.
  if (kept_ && !outcome_->is_known()) {
    backend_->env().post_quietly([kept = std::move(kept_)] {});
  }
}

LeaseEvent SessionLease::look() const {
  const LeaseEvent known = end_.load();
  if (is_over(known)) return known;
  if (backend_->forked()) return {LeaseState::lost, LossReason::abandoned};
  const TimePoint now = backend_->env().now();
  const TimePoint until = deadline_->has_passed(now) ? TimePoint{} : deadline_->until();
  const LeaseState state = clock_until(until, terms_.ttl).state(now);
  if (state == LeaseState::lost) return end_as({state, LossReason::expired});
  return {state, LossReason::none};
}

/// Over as `event` says, unless it is over already. How it is over.
LeaseEvent SessionLease::end_as(LeaseEvent event) const {
  LeaseEvent known = end_.load();
  while (!is_over(known)) {
    if (end_.compare_exchange_weak(known, event)) return event;
  }
  return known;
}

TimePoint SessionLease::valid_until() const {
  return is_over(look()) ? TimePoint{} : deadline_->until();
}

void SessionLease::hear(const LeaseEvent& event) {
  if (event.state == LeaseState::lost) return lose(event.reason);
  tell(event);
}

void SessionLease::witnessed_by(LeaseWitness& witness, Ending ending, std::size_t shown) {
  LeaseCore::witnessed_by(witness, ending, shown);
  if (kept_) kept_->tell_renewals();
}

void SessionLease::renewed() {
  LeaseWitness* const observing = witness();
  auto self = weak_from_this().lock();
  if (observing == nullptr || !self) return;
  backend_->dispatcher().post([self = std::move(self), observing] { observing->kept(*self); });
}

void SessionLease::lose(LossReason reason) {
  const LeaseEvent end = end_as({LeaseState::lost, reason});
  if (end.state == LeaseState::lost) tell(end);
  wake_watch();
}

void SessionLease::tell(LeaseEvent event) {
  // A loss has a stop_token to trigger, too.
  if (event.state != LeaseState::lost && !has_callback_.load()) return;
  auto self = weak_from_this().lock();
  if (!self) return;
  backend_->dispatcher().post([self = std::move(self), event] { self->deliver(event); });
}

void SessionLease::deliver(LeaseEvent event) {
  const bool lost = event.state == LeaseState::lost;
  if (lost) stop_.request_stop();
  const std::lock_guard lock{listening_};
  if (lost && std::exchange(heard_loss_, true)) return;
  // Yesterday's news: it is over by now, which is told next.
  if (!is_over(event) && is_over(end_.load())) return;
  const auto callback = callback_;
  if (callback) callback(event);
}

std::stop_token SessionLease::stop_token() const {
  if (!backend_->forked() && look().state == LeaseState::lost) stop_.request_stop();
  return stop_.get_token();
}

void SessionLease::on_event(std::function<void(const LeaseEvent&)> callback) {
  if (backend_->forked()) return;
  {
    const std::lock_guard lock{listening_};
    callback_ = std::move(callback);
    has_callback_.store(callback_ != nullptr);
    heard_loss_ = false;
  }
  if (const LeaseEvent known = look(); known.state == LeaseState::lost) tell(known);
}

void SessionLease::attend() { backend_->env().spawn(watch(weak_from_this(), alarm_)); }

Task<void> SessionLease::watch(std::weak_ptr<SessionLease> weak, std::shared_ptr<Alarm> alarm) {
  while (true) {
    std::optional<TimePoint> next;
    if (const auto lease = weak.lock()) next = lease->look_and_tell();
    if (!next) co_return;
    co_await alarm->wait_until(*next);
  }
}

/// When to look again. Empty: it is over.
std::optional<TimePoint> SessionLease::look_and_tell() {
  const LeaseEvent now = look();
  if (now.state == LeaseState::released) return std::nullopt;
  if (std::exchange(told_, now.state) != now.state) tell(now);
  if (now.state == LeaseState::lost) return std::nullopt;
  const SessionClock clock = clock_until(deadline_->until(), terms_.ttl);
  return now.state == LeaseState::held ? clock.jeopardy_at() : clock.deadline();
}

void SessionLease::wake_watch() {
  if (alarm_) backend_->env().post([alarm = alarm_] { alarm->ring(); });
}

Error SessionLease::lost_error(LeaseEvent event) const {
  const std::string lease = "the lease on \"" + name() + "\" ";
  if (event.state == LeaseState::released) return {Errc::lost, lease + "was released"};
  return {Errc::lost, lease + "is lost: " + std::string{to_string(event.reason)}};
}

Result<void> SessionLease::renew() {
  if (const LeaseEvent now = look(); is_over(now)) return Unexpected{lost_error(now)};
  const TimePoint answer_by = backend_->answer_by();
  auto renewed = kept_ ? renew_kept(answer_by) : renew_detached(answer_by);
  if (const LeaseEvent now = look(); is_over(now)) return Unexpected{lost_error(now)};
  return renewed;
}

Result<void> SessionLease::renew_kept(TimePoint answer_by) {
  const SessionCall<Result<void>> call = [kept = kept_, answer_by](const SessionSide&) {
    return SessionKeeper::renew(kept, answer_by);
  };
  auto renewed = backend_->ask_engine(call, answer_by, Errc::unknown_outcome);
  if (!renewed && renewed.error().code == Errc::unavailable) {
    renewed.error().code = Errc::unknown_outcome;
  }
  return renewed;
}

Result<void> SessionLease::renew_detached(TimePoint answer_by) {
  // Before anything is sent: the engine counts from later than this.
  const TimePoint asked_at = backend_->env().now();
  const auto left = backend_->extend(terms_.held.name, terms_.held.owner, terms_.ttl, answer_by);
  if (!left) {
    if (left.error().code == Errc::lost) lose(LossReason::gone);
    return Unexpected{left.error()};
  }
  if (!deadline_->extend_to(asked_at + *left)) lose(LossReason::expired);
  wake_watch();
  return {};
}

/// The task that gives it up, for the one who is to run it. Empty: it was over before.
std::optional<Task<void>> SessionLease::begin_release(TimePoint answer_by) {
  LeaseEvent known = look();
  while (!is_over(known)) {
    known = end_.load();
    if (is_over(known)) break;
    if (!end_.compare_exchange_weak(known, {LeaseState::released, LossReason::none})) continue;
    wake_watch();
    const SessionSide& side = backend_->side();
    return give_up(side, terms_.held, kept_, answer_by, weak_from_this(), outcome_);
  }
  return std::nullopt;
}

Task<void> SessionLease::give_up(SessionSide side,
                                 HeldLease held,
                                 std::shared_ptr<KeptLease> kept,
                                 TimePoint answer_by,
                                 std::weak_ptr<SessionLease> weak,
                                 std::shared_ptr<Answer<ReleaseOutcome>> outcome) {
  ReleaseOutcome known = ReleaseOutcome::unknown;
  LossReason reason = LossReason::gone;
  if (kept) {
    known = co_await side.session->release(kept, answer_by);
    const LossReason known_reason = kept->loss_reason(kept->valid_until());
    if (known_reason != LossReason::none) reason = known_reason;
  } else {
    const auto answered = co_await side.desk->release(held.name, held.owner, answer_by);
    if (answered) known = *answered;
  }
  if (const auto lease = weak.lock()) lease->given_up(known, reason);
  outcome->set(known);
}

void SessionLease::given_up(ReleaseOutcome outcome, LossReason reason) {
  if (outcome != ReleaseOutcome::already_lost) return tell(end_.load());
  end_.store({LeaseState::lost, reason});
  tell(end_.load());
}

ReleaseOutcome SessionLease::release() {
  if (backend_->forked()) return ReleaseOutcome::already_lost;
  HOLDFAST_ASSERT(!backend_->on_its_thread());
  const TimePoint answer_by = backend_->answer_by();
  const TimePoint patience = backend_->patience(answer_by);
  if (auto task = begin_release(answer_by)) {
    backend_->env().spawn_and_wait(*std::move(task), *outcome_, patience);
  } else if (end_.load().state == LeaseState::lost) {
    return ReleaseOutcome::already_lost;
  }
  if (const auto known = outcome_->get(patience)) return *known;
  // A later call answers the same, even if the answer comes after all.
  outcome_->set(ReleaseOutcome::unknown);
  return outcome_->take();
}

void SessionLease::async_release(ReleaseCallback callback) {
  if (backend_->forked()) return callback(ReleaseOutcome::already_lost);
  const TimePoint answer_by = backend_->answer_by();
  if (auto task = begin_release(answer_by)) {
    auto told = [outbox = backend_->outbox(), callback = std::move(callback)](auto outcome) {
      outbox->put([callback, outcome] { callback(outcome); });
    };
    return backend_->env().spawn(tell_outcome(*std::move(task), outcome_, std::move(told)));
  }
  if (end_.load().state == LeaseState::lost) return callback(ReleaseOutcome::already_lost);
  // Somebody else has released it and may not have been answered yet.
  const TimePoint patience = backend_->patience(answer_by);
  backend_->dispatcher().post([outcome = outcome_, patience, callback = std::move(callback)] {
    callback(outcome->get(patience).value_or(ReleaseOutcome::unknown));
  });
}

Task<void> SessionLease::tell_outcome(Task<void> giving_up,
                                      std::shared_ptr<Answer<ReleaseOutcome>> outcome,
                                      ReleaseCallback callback) {
  Waiter waiter{std::move(callback)};
  co_await std::move(giving_up);
  waiter.tell(outcome->get(TimePoint{}).value_or(ReleaseOutcome::unknown));
}

Result<void> SessionLease::detach() {
  if (kept_) {
    return Unexpected{Error{Errc::unsupported,
                            "the lease on \"" + name() + "\" is a session's and ends with it",
                            "acquire a detached lease"}};
  }
  let_go_.store(true);
  return {};
}

std::string SessionLease::sequencer() const {
  return to_string(Sequencer{.domain = backend_->domain(),
                             .name = name(),
                             .mode = terms_.mode,
                             .token = terms_.held.token,
                             .owner_fp = terms_.held.owner.fingerprint()});
}

void SessionLease::drop() noexcept {
  if (backend_->forked() || let_go_.load()) return;
  const TimePoint answer_by = backend_->answer_by();
  auto task = begin_release(answer_by);
  if (!task) return;
  if (backend_->on_its_thread()) return backend_->env().spawn(*std::move(task));
  backend_->env().spawn_and_wait(*std::move(task), *outcome_, answer_by);
}

}  // namespace holdfast::core
