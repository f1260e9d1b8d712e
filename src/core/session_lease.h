// One lease of a SessionBackend: kept alive by the session, or detached and left to its TTL.
//
// It knows its own end at any instant: the deadline is shared with the keeper, not asked of it.
//
// Thread safety: any thread; hear(), renewed() and attend() on the Env's thread. What is told goes
// through the backend's dispatcher. The Env's thread may drop the last reference.

#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/alarm.h"
#include "core/backend.h"
#include "core/session_side.h"

namespace holdfast::core {

class SessionBackend;

class SessionLease final : public LeaseCore,
                           public RenewalListener,
                           public std::enable_shared_from_this<SessionLease> {
 public:
  struct Terms {
    HeldLease held;
    Mode mode;
    Millis ttl;
  };

  /// One that a session keeps.
  SessionLease(std::shared_ptr<SessionBackend> backend,
               Terms terms,
               std::shared_ptr<KeptLease> kept);
  /// A detached one.
  SessionLease(std::shared_ptr<SessionBackend> backend, Terms terms, TimePoint valid_until);
  ~SessionLease() override;

  const std::string& name() const override { return terms_.held.name.text(); }
  Mode mode() const override { return terms_.mode; }
  Token token() const override { return terms_.held.token; }
  Owner owner() const override { return terms_.held.owner; }
  Millis ttl() const override { return terms_.ttl; }
  LeaseState state() const override { return look().state; }
  LossReason loss_reason() const override { return look().reason; }
  TimePoint valid_until() const override;
  std::stop_token stop_token() const override;
  void on_event(std::function<void(const LeaseEvent&)> callback) override;
  Result<void> renew() override;
  ReleaseOutcome release() override;
  void async_release(ReleaseCallback callback) override;
  Result<void> detach() override;
  std::string sequencer() const override;
  void drop() noexcept override;
  void witnessed_by(LeaseWitness& witness, Ending ending, std::size_t shown) override;

  /// What the keeper says.
  void hear(const LeaseEvent& event);
  void renewed() override;

  /// Watches over a detached lease, as the keeper does over its own.
  void attend();

 private:
  static Task<void> watch(std::weak_ptr<SessionLease> weak, std::shared_ptr<Alarm> alarm);
  static Task<void> tell_outcome(Task<void> giving_up,
                                 std::shared_ptr<Answer<ReleaseOutcome>> outcome,
                                 ReleaseCallback callback);
  static Task<void> give_up(SessionSide side,
                            HeldLease held,
                            std::shared_ptr<KeptLease> kept,
                            TimePoint answer_by,
                            std::weak_ptr<SessionLease> weak,
                            std::shared_ptr<Answer<ReleaseOutcome>> outcome);

  LeaseEvent look() const;
  std::optional<TimePoint> look_and_tell();
  LeaseEvent end_as(LeaseEvent event) const;
  void lose(LossReason reason);
  void tell(LeaseEvent event);
  void deliver(LeaseEvent event);
  void given_up(ReleaseOutcome outcome, LossReason reason);
  std::optional<Task<void>> begin_release(TimePoint answer_by);
  Result<void> renew_kept(TimePoint answer_by);
  Result<void> renew_detached(TimePoint answer_by);
  Error lost_error(LeaseEvent event) const;
  void wake_watch();

  std::shared_ptr<SessionBackend> backend_;
  Terms terms_;
  /// Empty: detached.
  std::shared_ptr<KeptLease> kept_;
  std::shared_ptr<SharedDeadline> deadline_;
  /// Detached leases: cuts the sleep of watch() short.
  std::shared_ptr<Alarm> alarm_;
  /// What watch() told last.
  LeaseState told_{LeaseState::held};
  /// Lost or released once it is over; before that it says nothing.
  mutable std::atomic<LeaseEvent> end_{LeaseEvent{}};
  std::atomic<bool> let_go_{false};
  std::shared_ptr<Answer<ReleaseOutcome>> outcome_{std::make_shared<Answer<ReleaseOutcome>>()};
  mutable std::stop_source stop_;
  /// Held while a callback runs, which may replace itself.
  std::recursive_mutex listening_;
  std::function<void(const LeaseEvent&)> callback_;
  std::atomic<bool> has_callback_{false};
  bool heard_loss_{false};
};

}  // namespace holdfast::core
