// LeaseSession: one process's leases at one engine, from the request to the end of each.
//
// Tasks of the process that want the same name for themselves queue here, so that one request per
// name is at the engine; those that want to share it enter at once. Granted leases are kept alive
// until released; what may be left of one that was lost is released, best effort, so that nobody
// waits for the engine to notice.
//
// Thread safety: as Env. Lifetime: the Env outlives the session; tasks under way keep it alive.
// Destroying it loses the leases it still has.

#pragma once

#include <map>
#include <memory>
#include <stop_token>
#include <string>

#include "core/lease_engine.h"
#include "core/local_queue.h"
#include "core/session_keeper.h"

namespace holdfast::core {

class LeaseSession : public std::enable_shared_from_this<LeaseSession> {
 public:
  using Lease = std::shared_ptr<KeptLease>;
  using Listener = SessionKeeper::Listener;

  /// A lease that ends by itself.
  struct Detached {
    HeldLease lease;
    Grant grant;
    /// In force.
    Millis ttl;
  };

  LeaseSession(Env& env, std::shared_ptr<LeaseEngine> engine);
  ~LeaseSession();
  LeaseSession(const LeaseSession&) = delete;
  LeaseSession& operator=(const LeaseSession&) = delete;

  struct Wanted {
    LockName name;
    Millis ttl;
    /// As in LockRequest.
    std::string note{};
    Claim claim{};
    Millis lock_delay{0};
  };

  /// Takes the lock, waiting for it until `wait_until`; a time that has passed: one attempt, which
  /// does not wait for other tasks of this process either. Failures as LeaseEngine::acquire().
  Task<Result<Lease, AcquireError>> acquire(Wanted wanted,
                                            TimePoint wait_until,
                                            std::stop_token stop,
                                            Listener listener);

  /// As acquire(), but nobody keeps the lease alive.
  Task<Result<Detached, AcquireError>> acquire_detached(Wanted wanted,
                                                        TimePoint wait_until,
                                                        std::stop_token stop);

  /// Leaves the lease to itself: it is not renewed any more, and not released.
  void detach(KeptLease& lease);

  /// Gives the lease up. Idempotent: released again, it answers already_lost when it was lost and
  /// released otherwise.
  Task<ReleaseOutcome> release(Lease lease, TimePoint answer_by);

 private:
  Task<Result<Detached, AcquireError>> take(Wanted wanted,
                                            LeaseKind kind,
                                            TimePoint wait_until,
                                            std::stop_token stop);
  SessionKeeper& keeper(Millis ttl);
  class News;

  Listener releasing_when_lost(HeldLease lease, Millis ttl, Listener listener) const;

  Env& env_;
  std::shared_ptr<LeaseEngine> engine_;
  LocalQueue queue_;
  std::map<Millis, SessionKeeper> keepers_;
  std::shared_ptr<News> news_;
};

}  // namespace holdfast::core
