// SimClient: one simulated process that takes locks at the world's servers, with the production
// session, engine and keeper in it. It can be killed and started again.
//
// Thread safety: none.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/lease_session.h"
#include "sim/world/servers.h"

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
  /// The same by the holder's own clock.
  TimePoint valid_until_there() const { return lease().valid_until(); }
  const std::vector<Heard>& heard() const { return shared_->heard; }

 private:
  friend class SimClient;
  struct Shared {
    const SimEnv* env;
    core::LeaseSession::Lease lease;
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
    Servers& servers;
  };

  SimClient(std::string name, const Place& place, std::uint64_t seed, const EngineMaker& maker);

  /// Takes the lock, waiting for it up to `patience`.
  Task<Acquired> acquire(LockName name, Millis ttl, Duration patience, core::Claim claim = {});
  Task<ReleaseOutcome> release(LeaseView lease, Duration patience);

  /// Asks the resource. unknown_outcome: no answer in time.
  Task<Result<RegisterAnswer>> operate(RegisterRequest request, Duration patience);

  /// The process ends without another word.
  void kill();
  /// It starts again, with nothing of its former life but its name.
  void restart();
  std::uint32_t incarnation() const { return static_cast<std::uint32_t>(lives_.size() - 1); }

  const std::string& name() const { return name_; }
  HostId host() const { return host_; }
  SimEnv& env() { return lives_.back()->env; }
  const SimEnv& env() const { return lives_.back()->env; }
  core::LeaseSession& session() { return *lives_.back()->session; }

 private:
  struct Life {
    Life(Scheduler& scheduler, std::uint64_t seed) : env{scheduler, seed} {}
    SimEnv env;
    std::shared_ptr<core::LeaseSession> session;
  };

  void note(EventKind kind, std::uint64_t number, std::string_view text);
  core::LeaseSession::Listener listener(const std::shared_ptr<LeaseView::Shared>& shared);

  std::string name_;
  Place place_;
  EngineMaker maker_;
  Chance chance_;
  HostId host_;
  /// Those that ended stay: messages to them are still under way.
  std::vector<std::unique_ptr<Life>> lives_;
};

}  // namespace holdfast::sim
