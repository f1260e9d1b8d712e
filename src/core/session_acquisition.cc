#include "core/session_acquisition.h"

#include <algorithm>
#include <utility>

#include "core/holder_note.h"
#include "core/session_backend.h"
#include "core/session_lease.h"

namespace holdfast::core {
namespace {

TimePoint later(TimePoint now, Millis wait) {
  // As good as for ever, and far from the end of the clock.
  constexpr Millis kAges{std::chrono::hours{24 * 365 * 10}};
  return now + std::min(wait, kAges);
}

AcquireError shutting_down() {
  return AcquireError{Errc::shutting_down, "the client was destroyed"};
}

std::string held_by(const std::string& name, const Contender& holder) {
  std::string text = "\"" + name + "\" is held";
  if (holder.foreign) return text + " by another program";
  if (!holder.host.empty()) text += " by " + holder.host + " pid " + std::to_string(holder.pid);
  return text;
}

}  // namespace

SessionAcquisition::SessionAcquisition(const std::shared_ptr<SessionBackend>& backend,
                                       std::string_view name,
                                       const AcquireOptions& options,
                                       std::stop_token caller,
                                       Deliver deliver)
    : backend_{backend},
      env_{backend->env()},
      timeout_{backend->timeout()},
      name_{std::string{name}},
      claim_{.mode = options.mode, .permits = options.permits},
      lock_delay_{options.lock_delay},
      kind_{options.kind},
      ttl_{options.ttl},
      wait_{options.wait},
      note_{encode_note(make_note(options.label, options.trace_id))},
      wait_until_{later(env_.now(), wait_)},
      deliver_{std::move(deliver)},
      ending_{backend->ending()},
      on_caller_{std::move(caller), Forward{stop_}},
      on_ending_{ending_, Forward{stop_}} {}

SessionAcquisition::~SessionAcquisition() {
  if (deliver_) deliver(Unexpected{shutting_down()});
}

void SessionAcquisition::deliver(AcquireResult result) {
  const Deliver once = std::exchange(deliver_, nullptr);
  once(std::move(result));
}

LeaseSession::Wanted SessionAcquisition::wanted() const {
  return {.name = name_, .ttl = ttl_, .note = note_, .claim = claim_, .lock_delay = lock_delay_};
}

Task<void> SessionAcquisition::run(std::shared_ptr<SessionAcquisition> self, SessionSide side) {
  const bool detached = self->kind_ == LeaseKind::detached;
  Task<AcquireResult> task = detached ? self->take_detached(side) : self->take_kept(side);
  AcquireResult result = co_await std::move(task);
  if (!result) {
    AcquireError error = std::move(result).error();
    Task<AcquireError> explained = self->explain(side, std::move(error));
    AcquireError told = co_await std::move(explained);
    result = Unexpected{std::move(told)};
  }
  self->deliver(std::move(result));
}

Task<AcquireResult> SessionAcquisition::take_kept(SessionSide side) {
  const auto told = std::make_shared<std::weak_ptr<SessionLease>>();
  LeaseSession::Listener listener = [told](const LeaseEvent& event) {
    if (const auto lease = told->lock()) lease->hear(event);
  };
  LeaseSession::Wanted what = wanted();
  std::stop_token stop = stop_.get_token();
  auto kept = co_await side.session->acquire(
      std::move(what), wait_until_, std::move(stop), std::move(listener));
  if (!kept) co_return Unexpected{std::move(kept).error()};
  auto backend = backend_.lock();
  if (!backend) {
    co_await side.session->release(*kept, env_.now() + timeout_);
    co_return Unexpected{shutting_down()};
  }
  const Millis ttl = std::chrono::duration_cast<Millis>((*kept)->ttl());
  SessionLease::Terms terms{.held = (*kept)->held(), .mode = claim_.mode, .ttl = ttl};
  auto lease = std::make_shared<SessionLease>(std::move(backend), std::move(terms), *kept);
  *told = lease;
  lease->arrived({.met = (*kept)->met()});
  (*kept)->on_renewal(lease);
  const TimePoint now = env_.now();
  if ((*kept)->state(now) == LeaseState::lost) {
    lease->hear({LeaseState::lost, (*kept)->loss_reason(now)});
  }
  co_return std::shared_ptr<LeaseCore>{std::move(lease)};
}

Task<AcquireResult> SessionAcquisition::take_detached(SessionSide side) {
  LeaseSession::Wanted what = wanted();
  std::stop_token stop = stop_.get_token();
  auto taken =
      co_await side.session->acquire_detached(std::move(what), wait_until_, std::move(stop));
  if (!taken) co_return Unexpected{std::move(taken).error()};
  auto backend = backend_.lock();
  if (!backend) {
    const HeldLease& held = taken->lease;
    const TimePoint answer_by = env_.now() + timeout_;
    static_cast<void>(co_await side.desk->release(held.name, held.owner, answer_by));
    co_return Unexpected{shutting_down()};
  }
  SessionLease::Terms terms{.held = taken->lease, .mode = claim_.mode, .ttl = taken->ttl};
  const TimePoint until = taken->grant.valid_until;
  auto lease = std::make_shared<SessionLease>(std::move(backend), std::move(terms), until);
  lease->arrived({.met = taken->grant.met});
  lease->attend();
  co_return std::shared_ptr<LeaseCore>{std::move(lease)};
}

/// What the caller is told, with the holder where it can be learnt.
Task<AcquireError> SessionAcquisition::explain(SessionSide side, AcquireError error) {
  if (error.code == Errc::cancelled) {
    if (ending_.stop_requested()) co_return shutting_down();
    error.message = "waiting for \"" + name_.text() + "\" was cancelled";
    co_return error;
  }
  // An engine without a queue is busy to the last.
  if (error.code == Errc::busy && wait_ > Millis{0}) error.code = Errc::timeout;
  if (error.code != Errc::busy && error.code != Errc::timeout) co_return error;
  // Bare: the time ran out in this process's own queue, and the engine was not asked.
  if (!error.holder && error.message == to_string(error.code)) {
    const auto lock = co_await side.desk->inspect(name_, env_.now() + timeout_);
    if (lock && !lock->holders.empty()) error.holder = lock->holders.front();
  }
  if (!error.holder) co_return error;
  error.message = held_by(name_.text(), *error.holder);
  if (error.code == Errc::timeout) error.message += " and did not come free in time";
  co_return error;
}

}  // namespace holdfast::core
