// EtcdLimits: where rate limits have their pages in an etcd cluster, each change one transaction.
//
// etcd tells no time: that of the pages is the wall clock of whoever writes them, and each follows
// the clock that is ahead (core/leased_limits.h).
//
// Thread safety: as Env. Lifetime: the Env outlives it.

#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/leased_limits.h"
#include "engines/etcd/etcd_port.h"
#include "engines/etcd/store/store_leases.h"

namespace holdfast::etcd {

/// Where a limit has its page. Locks have no control characters in their names.
std::string limit_key(std::string_view prefix, std::string_view key);

class EtcdLimits final : public core::LimitBook {
 public:
  /// The time since 1970.
  using WallClock = std::function<Duration()>;

  EtcdLimits(Env& env, std::shared_ptr<EtcdPort> port, std::string prefix, WallClock clock);

  Task<Result<Duration>> time(TimePoint answer_by) override;
  Task<Result<Swapped>> swap(const std::string& key,
                             const core::LimitPage& seen,
                             core::AheadMark mark,
                             Duration keep,
                             TimePoint answer_by) override;

 private:
  std::shared_ptr<EtcdPort> port_;
  std::string prefix_;
  WallClock clock_;
  StoreLeases leases_;
};

}  // namespace holdfast::etcd
