// StoreLeases: leases under which the store puts what is to be forgotten by itself.
//
// One lease serves everything of about the same lifetime: nobody renews it, and what is put under
// it stays for at least as long as was asked for, and a sixteenth longer at most. The time is the
// server's, and whole seconds.
//
// Thread safety: as Env. Lifetime: Env and port outlive it.

#pragma once

#include <map>

#include "base/env.h"
#include "engines/etcd/etcd_port.h"

namespace holdfast::etcd {

class StoreLeases {
 public:
  StoreLeases(Env& env, EtcdPort& port) : env_{env}, port_{port} {}

  /// A lease that stands for at least `time` from now on. Fails as EtcdPort::grant().
  Task<Result<LeaseId>> lasting(Duration time, TimePoint answer_by);

  /// The server does not know them any more: new ones are made from now on.
  void forget() { leases_.clear(); }

 private:
  struct Granted {
    LeaseId id;
    TimePoint until;
  };

  Env& env_;
  EtcdPort& port_;
  /// By the seconds for which they were made.
  std::map<std::int64_t, Granted> leases_;
};

/// For how long a lease is made that is to last for `time` whenever it is used within a sixteenth
/// of that.
Seconds granted_for(Duration time);

}  // namespace holdfast::etcd
