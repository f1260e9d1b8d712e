// SimClient: one simulated process that takes locks at the world's Redis, with the production
// session, engine and keeper in it.
//
// Thread safety: none.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engines/redis/redis_session.h"
#include "sim/network.h"
#include "sim/redis_node.h"
#include "sim/sim_env.h"
#include "sim/sim_redis_port.h"
#include "sim/trace.h"

namespace holdfast::sim {

/// A lease as a test sees it from outside. Times are true time.
class LeaseView {
 public:
  /// A change of state and when the holder heard of it.
  struct Heard {
    TimePoint when;
    LeaseEvent event;
  };

  Token token() const { return lease().held().token; }
  Owner owner() const { return lease().held().owner; }
  /// As the holder's own clock has it, whether or not the holder runs.
  LeaseState state() const { return lease().state(shared_->env->now()); }
  LossReason loss_reason() const { return lease().loss_reason(shared_->env->now()); }
  TimePoint valid_until() const { return shared_->env->true_time(lease().valid_until()); }
  const std::vector<Heard>& heard() const { return shared_->heard; }

 private:
  friend class SimClient;
  struct Shared {
    const SimEnv* env;
    redis::RedisSession::Lease lease;
    std::vector<Heard> heard;
  };
  explicit LeaseView(std::shared_ptr<Shared> shared) : shared_{std::move(shared)} {}
  const core::KeptLease& lease() const { return *shared_->lease; }

  std::shared_ptr<Shared> shared_;
};

using Acquired = Result<LeaseView, AcquireError>;

class SimClient {
 public:
  struct Place {
    Scheduler& scheduler;
    Network& network;
    RedisNode& node;
    Trace& trace;
  };

  SimClient(std::string name, const Place& place, std::uint64_t seed, redis::Settings settings);

  /// One attempt to take the lock, repeated while unanswered for up to `patience`.
  Task<Acquired> acquire(LockName name, Millis ttl, Duration patience);
  Task<ReleaseOutcome> release(LeaseView lease, Duration patience);

  /// The process ends without another word.
  void kill();

  SimEnv& env() { return env_; }
  Link& link() { return link_; }
  redis::RedisSession& session() { return *session_; }

 private:
  redis::RedisSession::Listener listener(const std::shared_ptr<LeaseView::Shared>& shared);

  std::string name_;
  Scheduler& scheduler_;
  Trace& trace_;
  SimEnv env_;
  Link link_;
  std::shared_ptr<SimRedisPort> port_;
  std::shared_ptr<redis::RedisSession> session_;
};

}  // namespace holdfast::sim
