// SessionKeeper: keeps the leases of one session alive and says when one is in danger or lost.
//
// One session is one process's liveness at one engine with one TTL. All its leases are renewed
// together when the first of them is due, a third of the TTL after its last acknowledged renewal.
// An unanswered renewal is repeated, with backoff, without giving up on a late answer to the first.
// The deadline is a timer of its own: a renewal that hangs does not delay the news of a loss. A
// loss is final, whatever the engine answers afterwards.
//
// Thread safety: as Env.
// Lifetime: the Env outlives the keeper. Destroying the keeper loses the leases it still keeps.

#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "base/env.h"
#include "core/renewer.h"
#include "core/session_clock.h"
#include "core/shared_deadline.h"
#include "holdfast/lease.h"

namespace holdfast::core {

struct KeeperCore;

/// Whom a keeper tells that it renewed a lease by itself.
class RenewalListener {
 public:
  /// Between tasks of the Env.
  virtual void renewed() = 0;

 protected:
  ~RenewalListener() = default;
};

/// One lease in a keeper's care. Made by SessionKeeper::keep().
class KeptLease {
 public:
  const HeldLease& held() const { return held_; }
  /// Who was in the way when it was asked for.
  Met met() const { return met_; }

  /// As of `now`, even if the keeper had no chance to notice yet.
  LeaseState state(TimePoint now) const;
  /// Why it is lost. LossReason::none while it is not.
  LossReason loss_reason(TimePoint now) const;
  TimePoint valid_until() const { return clock_.deadline(); }
  Duration ttl() const { return clock_.ttl(); }

  /// valid_until() for other threads. Whoever finds it passed there has lost the lease here, too.
  const std::shared_ptr<SharedDeadline>& deadline() const { return deadline_; }

  /// Who hears of every renewal by the keeper once tell_renewals() was called.
  void on_renewal(std::weak_ptr<RenewalListener> listener) { on_renewal_ = std::move(listener); }
  /// Any thread. Without it a renewal costs nothing more.
  void tell_renewals() { tells_renewals_.store(true, std::memory_order_release); }

 private:
  friend class SessionKeeper;
  friend struct KeeperCore;
  using Listener = std::function<void(const LeaseEvent&)>;

  KeptLease(HeldLease held, SessionClock clock, Listener listener, Met met)
      : held_{std::move(held)},
        met_{met},
        clock_{clock},
        deadline_{std::make_shared<SharedDeadline>(clock.deadline())},
        listener_{std::move(listener)} {}

  bool over() const;
  void change_to(LeaseEvent event);
  bool renewed(Confirmation renewal, Duration ttl);
  void tell_of_renewal() const;

  HeldLease held_;
  Met met_;
  SessionClock clock_;
  std::shared_ptr<SharedDeadline> deadline_;
  std::weak_ptr<KeeperCore> keeper_;
  Listener listener_;
  std::weak_ptr<RenewalListener> on_renewal_;
  std::atomic<bool> tells_renewals_{false};
  /// What the listener was told last.
  LeaseEvent told_{};
};

class SessionKeeper {
 public:
  using Listener = KeptLease::Listener;

  SessionKeeper(Env& env, std::shared_ptr<Renewer> renewer, Millis ttl);
  ~SessionKeeper();
  SessionKeeper(const SessionKeeper&) = delete;
  SessionKeeper& operator=(const SessionKeeper&) = delete;

  /// Takes charge of a lease. The listener hears of every change of state but `released`; it may
  /// call forget(), keep() and lose().
  std::shared_ptr<KeptLease> keep(HeldLease lease,
                                  Confirmation granted,
                                  Listener listener,
                                  Met met = Met::nobody);

  /// Renews the lease now instead of when it is due. Ends by `answer_by` or soon after.
  ///
  /// lost: it is over. unavailable, unknown_outcome: no answer; the old deadline stands.
  static Task<Result<void>> renew(std::shared_ptr<KeptLease> lease, TimePoint answer_by);

  /// The holder gives the lease up: it is not renewed any more and its state is `released`.
  /// Without effect on a lease that is lost.
  void forget(KeptLease& lease);

  /// The engine told us by another way than a renewal. Without effect when no lease is the owner's.
  void lose(const Owner& owner, LossReason reason);

  /// Renews all leases now instead of when the first is due.
  void renew_now();

  /// Loses every lease as LossReason::abandoned.
  void stop();

 private:
  std::shared_ptr<KeeperCore> core_;

  static Task<void> watch(std::shared_ptr<KeeperCore> core);
  static Task<void> renew_all(std::shared_ptr<KeeperCore> core);
};

}  // namespace holdfast::core
