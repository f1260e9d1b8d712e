// RedisSession: one process's leases at one Redis server, from the request to the end of each.
//
// Tasks of the process that want the same name queue here, so that one request per name is at the
// server. Granted leases are kept alive until released; one that ran out here is released there,
// best effort, so that nobody waits for the server to notice.
//
// Thread safety: as Env. Lifetime: the Env outlives the session; tasks under way keep it alive.
// Destroying it loses the leases it still has.

#pragma once

#include <map>
#include <memory>
#include <stop_token>

#include "core/local_queue.h"
#include "core/session_keeper.h"
#include "engines/redis/redis_engine.h"

namespace holdfast::redis {

class RedisSession : public std::enable_shared_from_this<RedisSession> {
 public:
  using Lease = std::shared_ptr<core::KeptLease>;
  using Listener = core::SessionKeeper::Listener;

  RedisSession(Env& env, std::shared_ptr<RedisPort> port, Settings settings);

  /// One attempt under a fresh owner. Failures as RedisEngine::try_acquire(), besides timeout and
  /// cancelled while other tasks of this process are at the server for the same name.
  Task<Result<Lease, AcquireError>> try_acquire(
      LockName name, Millis ttl, TimePoint answer_by, std::stop_token stop, Listener listener);

  /// Gives the lease up. Idempotent: released again, it answers already_lost when it was lost and
  /// released otherwise.
  Task<ReleaseOutcome> release(Lease lease, TimePoint answer_by);

 private:
  core::SessionKeeper& keeper(Millis ttl);
  Listener releasing_when_expired(core::HeldLease lease, Millis ttl, Listener listener) const;

  Env& env_;
  std::shared_ptr<RedisEngine> engine_;
  core::LocalQueue queue_;
  std::map<Millis, core::SessionKeeper> keepers_;
};

}  // namespace holdfast::redis
