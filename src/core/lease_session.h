// LeaseSession: one process's leases at one engine, from the request to the end of each.
//
// Tasks of the process that want the same name queue here, so that one request per name is at the
// engine. Granted leases are kept alive until released; what may be left of one that was lost is
// released, best effort, so that nobody waits for the engine to notice.
//
// Thread safety: as Env. Lifetime: the Env outlives the session; tasks under way keep it alive.
// Destroying it loses the leases it still has.

#pragma once

#include <map>
#include <memory>
#include <stop_token>

#include "core/lease_engine.h"
#include "core/local_queue.h"
#include "core/session_keeper.h"

namespace holdfast::core {

class LeaseSession : public std::enable_shared_from_this<LeaseSession> {
 public:
  using Lease = std::shared_ptr<KeptLease>;
  using Listener = SessionKeeper::Listener;

  LeaseSession(Env& env, std::shared_ptr<LeaseEngine> engine);

  /// One attempt under a fresh owner. Failures as LeaseEngine::try_acquire(), besides timeout and
  /// cancelled while other tasks of this process are at the engine for the same name.
  Task<Result<Lease, AcquireError>> try_acquire(
      LockName name, Millis ttl, TimePoint answer_by, std::stop_token stop, Listener listener);

  /// Gives the lease up. Idempotent: released again, it answers already_lost when it was lost and
  /// released otherwise.
  Task<ReleaseOutcome> release(Lease lease, TimePoint answer_by);

 private:
  SessionKeeper& keeper(Millis ttl);
  Listener releasing_when_lost(HeldLease lease, Millis ttl, Listener listener) const;

  Env& env_;
  std::shared_ptr<LeaseEngine> engine_;
  LocalQueue queue_;
  std::map<Millis, SessionKeeper> keepers_;
};

}  // namespace holdfast::core
