// LeaseEngine: what a session asks of an engine whose leases end by themselves: take, renew, give
// up.

#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "core/admission.h"
#include "core/renewer.h"
#include "holdfast/client.h"
#include "holdfast/lease.h"

namespace holdfast::core {

struct Grant {
  Token token{0};
  /// When the granting request left.
  TimePoint sent_at;
  TimePoint valid_until;
  /// Under which owner it was granted, where the engine chose another than the one asked for.
  std::optional<Owner> owner{};
  /// The TTL in force, where the engine adjusted the one asked for to its range.
  std::optional<Millis> ttl{};
  /// From where the TTL counts, if that is earlier than `sent_at`.
  std::optional<TimePoint> counts_from{};
  /// others: somebody had it, or was before this one in line. An answer that was lost may have said
  /// so.
  Met met{Met::nobody};
};

/// What is asked for.
struct LockRequest {
  LockName name;
  /// Fresh: no earlier request had it.
  Owner owner;
  Millis ttl;
  /// What others may see of the holder, as core/holder_note.h writes it.
  std::string note{};
  Claim claim{};
  /// Nobody is granted the lock for so long after this holder vanished.
  Millis lock_delay{0};
  /// detached: nobody renews it together with others, and it may outlive this process.
  LeaseKind kind{LeaseKind::session};
};

/// What an engine hears without asking. Called between tasks of the Env.
class LeaseNews {
 public:
  virtual ~LeaseNews() = default;

  /// The owner's lease is over.
  virtual void lost(const Owner& owner, LossReason reason) = 0;
  /// Leases may be over: it is time to renew them.
  virtual void in_doubt() = 0;
};

/// Thread safety: as Env; several calls may be under way at once.
class LeaseEngine : public Renewer {
 public:
  /// Whom to tell what is heard without asking. An engine that hears nothing ignores it.
  virtual void tell(std::weak_ptr<LeaseNews> news) { static_cast<void>(news); }

  /// Takes the lock. While somebody else has it, an engine with a queue waits its turn there until
  /// `wait_until` or `stop`; another answers busy, and is asked again under a fresh owner.
  ///
  /// busy, timeout: somebody else has it, with the holder. cancelled: by `stop`. unavailable: too
  /// little of the engine could be reached. unknown_outcome, timeout: no answer in time, or too
  /// late an answer. invalid_argument: another number of permits is in use. unsupported: the engine
  /// has no such claim, or no lock-delay. corrupt, denied, no_space, internal: the server refused.
  /// Whatever was taken is given back in the background.
  virtual Task<Result<Grant, AcquireError>> acquire(LockRequest request,
                                                    TimePoint wait_until,
                                                    std::stop_token stop) = 0;

  /// Gives up a lease that is valid until `valid_until`. Repeats an unanswered request until
  /// `answer_by`, then answers unknown.
  virtual Task<ReleaseOutcome> release(HeldLease lease,
                                       TimePoint valid_until,
                                       TimePoint answer_by) = 0;

  /// Releases, in the background, whatever the owner may have on the name; gives up when a TTL has
  /// passed, since the server has forgotten it then.
  virtual void abandon(LockName name, Owner owner, Millis ttl) = 0;
};

}  // namespace holdfast::core
