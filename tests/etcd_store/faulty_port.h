// FaultyPort: an EtcdPort to a model server that loses what the test tells it to lose.

#pragma once

#include <deque>
#include <mutex>
#include <vector>

#include "base/env.h"
#include "engines/etcd/etcd_port.h"
#include "sim/etcd/etcd_model.h"
#include "tests/marked_store/fault.h"

namespace holdfast::etcd_store {

/// One server for all ports of a test. Thread safety: under its mutex.
struct Server {
  std::mutex mutex;
  sim::EtcdModel model;
};

using marked_store::Fate;
using marked_store::Fault;

/// Watches nothing, and keeps nothing alive: no store asks for it.
/// Thread safety: any thread; Env and server outlive it.
class FaultyPort final : public etcd::EtcdPort {
 public:
  FaultyPort(Env& env, Server& server) : env_{env}, server_{server} {}

  void commit(etcd::SharedTxn txn, TimePoint answer_by, etcd::OnTxn on_answer) override;
  void grant(etcd::LeaseId lease,
             etcd::Seconds ttl,
             TimePoint answer_by,
             etcd::OnLease on_answer) override;
  void keep_alive(etcd::LeaseId lease, TimePoint answer_by, etcd::OnLease on_answer) override;
  void revoke(etcd::LeaseId lease, TimePoint answer_by, etcd::OnLease on_answer) override;
  void look_up(etcd::LeaseId lease, TimePoint answer_by, etcd::OnLease on_answer) override;
  etcd::WatchId watch(etcd::Watch, etcd::OnWatch) override { return {1}; }
  void unwatch(etcd::WatchId) override {}

  /// For the next transactions that write, one each. Those that only look are answered.
  void expect(std::vector<Fault> faults);
  /// For all others, and for those that look.
  void always(Fate fate);
  /// What was delayed arrives: whether its comparisons held. Nobody is told.
  bool deliver();
  /// How many transactions there were.
  int sent() const;

 private:
  Fault next_fate(const etcd::Txn& txn);
  Result<etcd::TxnAnswer> meet(const etcd::SharedTxn& txn, Fate fate);

  Env& env_;
  Server& server_;
  mutable std::mutex mutex_;
  std::deque<Fault> faults_;
  Fate usual_{Fate::answered};
  std::deque<etcd::SharedTxn> delayed_;
  int sent_{0};
};

}  // namespace holdfast::etcd_store
