// EtcdModel: what an etcd cluster agrees on: keys, leases and who watches, as one linearizable
// server. Who may ask it, and whose clock counts, is EtcdCluster's part.
//
// Times are those of the leader's clock. A lease that has ended stands until expire() takes it
// away, as at the server, which looks twice a second.
//
// Thread safety: none.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "holdfast/clock.h"
#include "sim/etcd/etcd_keyspace.h"

namespace holdfast::sim {

class EtcdModel {
 public:
  /// What a backup has.
  struct State {
    struct Lease {
      etcd::Seconds ttl{0};
      Duration ends{};
    };

    /// The leases that have ended by then.
    std::vector<etcd::LeaseId> ended(Duration now) const;

    EtcdKeyspace keys;
    std::map<etcd::LeaseId, Lease> leases;
  };

  /// No lease is granted for less: one and a half times the election timeout, in whole seconds.
  static constexpr etcd::Seconds kTtlMin{2};

  /// Answers have no header but the revision.
  Result<etcd::TxnAnswer> commit(const etcd::Txn& txn);
  Result<etcd::LeaseAnswer> grant(etcd::LeaseId lease, etcd::Seconds ttl, Duration now);
  Result<etcd::LeaseAnswer> keep_alive(etcd::LeaseId lease, Duration now);
  Result<etcd::LeaseAnswer> revoke(etcd::LeaseId lease);
  Result<etcd::LeaseAnswer> look_up(etcd::LeaseId lease, Duration now) const;

  /// Takes away what has ended.
  void expire(Duration now);
  /// When the first lease ends. Empty: there is none.
  std::optional<Duration> next_end() const;

  /// Somebody else leads, whose clock shows `now`: every lease begins anew, and lasts longer by
  /// `extra` once.
  void promote(Duration now, Duration extra);

  using WatcherId = std::uint64_t;
  /// Called in the middle of the change, and so must not call the model.
  using Receiver = std::function<void(etcd::Revision, const std::vector<etcd::Change>&)>;

  struct Begun {
    WatcherId id{0};
    /// What was asked for is not known any more; it watches from now on.
    bool compacted{false};
    etcd::Revision revision{0};
    /// What has happened from there on until now.
    std::vector<etcd::Change> past{};
  };

  Begun watch(etcd::Watch watch, Receiver receiver);
  /// Without effect when it is over already.
  void unwatch(WatcherId id) { watchers_.erase(id); }
  bool watches(WatcherId id) const { return watchers_.contains(id); }
  void end_watches() { watchers_.clear(); }

  /// Forgets what happened before `revision`.
  void compact(etcd::Revision revision) { state_.keys.compact(revision); }
  const EtcdKeyspace& keys() const { return state_.keys; }

  const State& state() const { return state_; }
  /// Whoever watches is cut off.
  void restore(State state);

 private:
  struct Watcher {
    etcd::Watch watch;
    Receiver receiver;
  };

  etcd::LeaseAnswer answer(etcd::Seconds ttl) const;
  void end(etcd::LeaseId lease);
  /// Tells what has happened since `before`.
  void tell_since(etcd::Revision before);

  State state_;
  std::map<WatcherId, Watcher> watchers_;
  WatcherId last_watcher_{0};
};

}  // namespace holdfast::sim
