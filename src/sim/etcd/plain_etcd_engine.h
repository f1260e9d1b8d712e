// PlainEtcdEngine: locks as etcd's own clients take them, for the simulator to compare with.
//
// Each lock has a session of its own: a lease, kept alive, and the key `<name>/<lease in hex>` with
// it. The key that was created first holds the lock. Who waits watches the one before, and looks at
// its own key in the end. There are no tokens.
//
// Thread safety: as Env. Lifetime: the Env outlives the engine; tasks under way keep it alive.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/env.h"
#include "core/lease_engine.h"
#include "engines/etcd/etcd_port.h"

namespace holdfast::sim {

class PlainEtcdEngine final : public core::LeaseEngine,
                              public std::enable_shared_from_this<PlainEtcdEngine> {
 public:
  struct Settings {
    /// How long one request waits for its answer.
    Millis timeout{1000};
    /// How long a caller that has waited long enough waits for a last answer.
    Millis patience{5000};
  };

  PlainEtcdEngine(Env& env, std::shared_ptr<etcd::EtcdPort> port, Settings settings)
      : env_{env}, port_{std::move(port)}, settings_{settings} {}

  Task<Result<core::Grant, AcquireError>> acquire(core::LockRequest request,
                                                  TimePoint wait_until,
                                                  std::stop_token stop) override;
  Task<Result<std::vector<core::Fate>>> renew(std::vector<core::HeldLease> leases,
                                              Millis ttl,
                                              TimePoint answer_by) override;
  Task<ReleaseOutcome> release(core::HeldLease lease,
                               TimePoint valid_until,
                               TimePoint answer_by) override;
  void abandon(LockName name, Owner owner, Millis ttl) override;

 private:
  struct Contender;
  using Call = void (etcd::EtcdPort::*)(etcd::LeaseId, TimePoint, etcd::OnLease);

  TimePoint request_end(TimePoint answer_by) const;
  Task<Result<etcd::LeaseAnswer>> ask(Call call, etcd::LeaseId lease, TimePoint answer_by);
  Task<Result<void>> open_session(Contender& mine);
  Task<Result<void>> stand_in_line(Contender& mine);
  Task<Result<void>> keep_session(Contender& mine);
  /// Whether it is first. Otherwise `before` is whom it waits for.
  Task<Result<bool>> look(Contender& mine);
  Task<Result<void>> wait_for(Contender& mine, TimePoint until);
  Task<Result<void>> become_first(Contender& mine, TimePoint wait_until);
  Task<void> end_session(etcd::LeaseId lease, TimePoint until);

  Env& env_;
  std::shared_ptr<etcd::EtcdPort> port_;
  Settings settings_;
  /// The session of each lock that is held or asked for.
  std::map<Owner, etcd::LeaseId> sessions_;
};

}  // namespace holdfast::sim
