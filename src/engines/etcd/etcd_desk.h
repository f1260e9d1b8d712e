// EtcdDesk: looking at the locks of an etcd cluster, and acting on them from outside.
//
// Thread safety: as Env. Lifetime: the Env outlives it; tasks under way keep it alive.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/lock_desk.h"
#include "engines/etcd/contenders.h"
#include "engines/etcd/etcd_engine.h"

namespace holdfast::etcd {

class EtcdDesk final : public core::LockDesk, public std::enable_shared_from_this<EtcdDesk> {
 public:
  EtcdDesk(Env& env, std::shared_ptr<EtcdPort> port, Settings settings);

  Task<Result<LockInfo>> inspect(LockName name, TimePoint answer_by) override;
  /// In pages: not what is taken or given up meanwhile is sure to show.
  Task<Result<std::vector<LockInfo>>> list(std::string prefix, TimePoint answer_by) override;
  /// Leaves a record of who did it and why, for a month.
  Task<Result<BreakReport>> break_lock(LockName name,
                                       std::string why,
                                       TimePoint answer_by) override;
  /// A detached lease gets the whole TTL, a session's no more than its session has.
  Task<Result<Duration>> extend(LockName name,
                                Owner owner,
                                Millis ttl,
                                TimePoint answer_by) override;
  Task<Result<ReleaseOutcome>> release(LockName name, Owner owner, TimePoint answer_by) override;
  /// Told by the servers: whoever takes the lock, and by whatever means.
  std::unique_ptr<core::LockEar> listen(LockName name, std::function<void()> on_change) override;

 private:
  struct Survey;

  Task<Result<TxnAnswer>> look(Txn txn, TimePoint answer_by);
  Task<Result<Lineup>> look_at(LockName name, TimePoint answer_by);
  Task<Result<std::vector<KeyValue>>> contenders(std::string prefix, TimePoint answer_by);
  Task<Result<void>> learn_values(std::vector<KeyValue>& entries, TimePoint answer_by);
  Task<Result<void>> learn_ttls(std::vector<Lineup>& lineups, TimePoint answer_by);

  Task<Result<bool>> try_break(Lineup lineup, LeaseId record, std::string why, TimePoint answer_by);
  Task<Result<Millis>> move_to_longer(KeyValue entry, Seconds ttl, TimePoint answer_by);

  Env& env_;
  std::shared_ptr<Parts> parts_;
};

}  // namespace holdfast::etcd
