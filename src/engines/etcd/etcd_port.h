// EtcdPort: what the engine needs of an etcd cluster: transactions, leases and watches.
//
// The driver implements it over gRPC, the simulator over a model cluster.

#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "base/callback.h"
#include "base/completion.h"
#include "engines/etcd/etcd_messages.h"
#include "holdfast/clock.h"
#include "holdfast/result.h"

namespace holdfast::etcd {

/// Shared by every repetition.
using SharedTxn = std::shared_ptr<const Txn>;

inline SharedTxn share(Txn txn) { return std::make_shared<const Txn>(std::move(txn)); }

using OnTxn = Callback<56, Result<TxnAnswer>>;
using OnLease = Callback<56, Result<LeaseAnswer>>;
using OnWatch = std::function<void(const WatchNews&)>;

/// A watch of this port. Never zero.
struct WatchId {
  std::uint64_t number{0};
  friend constexpr auto operator<=>(WatchId, WatchId) = default;
};

/// Answers are handed over once, by `answer_by` or soon after, between tasks of the Env and never
/// inside the call. Nothing is repeated behind the caller's back once it may have run.
///
/// Failures of every call name the endpoint and the cause:
/// unavailable: it has not run and never will: no endpoint could be reached, or none has a leader.
/// unknown_outcome: it left and no answer came. It may have run, or may still run.
/// denied: wrong user or password, or no right to these keys. no_space: the quota is used up.
/// invalid_argument: too large for the server. corrupt: whoever answers is not etcd.
/// lost: the lease that a Put names does not exist (any more); nothing was written.
/// internal: another refusal.
///
/// Thread safety: as Env; several calls may be under way at once.
class EtcdPort {
 public:
  virtual ~EtcdPort() = default;

  /// Linearizable, also when it only reads.
  virtual void commit(SharedTxn txn, TimePoint answer_by, OnTxn on_answer) = 0;

  /// Makes the lease. One that is there already is not touched: answered with ttl 0.
  virtual void grant(LeaseId lease, Seconds ttl, TimePoint answer_by, OnLease on_answer) = 0;

  /// Renews it, over one stream for all leases. Gone: ttl 0.
  virtual void keep_alive(LeaseId lease, TimePoint answer_by, OnLease on_answer) = 0;

  /// Ends it, and its keys with it. It was there: ttl at least 1. Gone already: ttl 0.
  virtual void revoke(LeaseId lease, TimePoint answer_by, OnLease on_answer) = 0;

  /// Asks how long it still has: at least 1 while it is there. Gone: ttl 0.
  virtual void look_up(LeaseId lease, TimePoint answer_by, OnLease on_answer) = 0;

  /// Tells what happens to keys until unwatch() or until the port goes, over one stream for all
  /// watches. Calls back between tasks of the Env, never inside this call. An interruption is
  /// bridged at another endpoint from where it was, so that nothing is missed; what cannot be
  /// caught up any more is told as `compacted`, and the watch goes on from now.
  virtual WatchId watch(Watch watch, OnWatch on_watch) = 0;
  virtual void unwatch(WatchId id) = 0;

  /// Awaited, commits and waits for the answer. `txn` outlives the await; it is not held, because
  /// g++ 12 destroys what an awaiting expression holds twice.
  auto committed(const SharedTxn& txn, TimePoint answer_by) {
    const auto start = [this, &txn, answer_by](auto handler) {
      commit(txn, answer_by, OnTxn{std::move(handler)});
    };
    return completion<Result<TxnAnswer>>(start);
  }
};

}  // namespace holdfast::etcd
