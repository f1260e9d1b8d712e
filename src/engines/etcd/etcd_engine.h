// EtcdEngine: locks of all modes on an etcd cluster.
//
// Every contender is a key with a lease; the order of their creation is the queue, and the revision
// at which a key was created is its token. All locks of one TTL share one lease, which one request
// keeps alive. Validity is counted from before the last acknowledged request that made or kept the
// lease was sent. Taking a free lock is one transaction, and so is giving it up.
//
// What the cluster can break: a leader that was stuck may end leases early, and a restore from a
// backup takes back locks and revisions. Holders learn of both, and why; docs/internals/etcd.md.
//
// Thread safety: as Env. Lifetime: the Env outlives the engine; tasks under way keep it alive.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/backoff.h"
#include "base/env.h"
#include "core/lease_engine.h"
#include "engines/etcd/etcd_port.h"

namespace holdfast::etcd {

struct Settings {
  /// Begins every key. Empty: names stand as they are.
  std::string prefix{"hf/"};
  /// How long one request waits for its answer.
  Millis timeout{1000};
  /// How long an unanswered request is repeated, in all.
  Millis patience{5000};
  /// How long a lease is kept that no lock needs.
  Millis idle{60'000};
  /// How often those who wait look whether news of whom they wait for was lost.
  Millis look_again{30'000};
  BackoffPolicy retry{.first = Millis{20}, .max = Millis{500}};
};

struct Parts;
class Holdings;
class Contention;

class EtcdEngine final : public core::LeaseEngine, public std::enable_shared_from_this<EtcdEngine> {
 public:
  EtcdEngine(Env& env, std::shared_ptr<EtcdPort> port, Settings settings);
  ~EtcdEngine() override;
  EtcdEngine(const EtcdEngine&) = delete;
  EtcdEngine& operator=(const EtcdEngine&) = delete;

  /// Waits in the cluster's queue. An unanswered request is settled under the same key.
  Task<Result<core::Grant, AcquireError>> acquire(core::LockRequest request,
                                                  TimePoint wait_until,
                                                  std::stop_token stop) override;

  /// One request for all locks of a session.
  Task<Result<std::vector<core::Fate>>> renew(std::vector<core::HeldLease> leases,
                                              Millis ttl,
                                              TimePoint answer_by) override;

  Task<ReleaseOutcome> release(core::HeldLease lease,
                               TimePoint valid_until,
                               TimePoint answer_by) override;

  void abandon(LockName name, Owner owner, Millis ttl) override;

  /// Leases that were ended by force or by the cluster.
  void tell(std::weak_ptr<core::LeaseNews> news) override;

 private:
  Env& env_;
  std::shared_ptr<Parts> parts_;
  std::shared_ptr<Holdings> holdings_;
};

}  // namespace holdfast::etcd
