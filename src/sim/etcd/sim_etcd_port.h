// SimEtcdPort: the etcd port over the simulated network and a model cluster.
//
// As over gRPC: a request that was refused is sent to the next member, one that was not answered is
// not repeated, and nothing arrives twice.

#pragma once

#include <memory>
#include <vector>

#include "engines/etcd/etcd_port.h"
#include "sim/etcd/etcd_cluster.h"
#include "sim/world/network.h"
#include "sim/world/sim_env.h"

namespace holdfast::sim {

struct EtcdEnds {
  HostId client;
  /// Of every member, in its order.
  std::vector<HostId> members;
};

struct SimEtcdRoute;
struct SimEtcdWatches;

/// Thread safety: none. Env, network and cluster outlive it and its calls.
class SimEtcdPort final : public etcd::EtcdPort {
 public:
  SimEtcdPort(SimEnv& env, Network& network, EtcdCluster& cluster, EtcdEnds ends);
  ~SimEtcdPort() override;
  SimEtcdPort(const SimEtcdPort&) = delete;
  SimEtcdPort& operator=(const SimEtcdPort&) = delete;

  void commit(etcd::SharedTxn txn, TimePoint answer_by, etcd::OnTxn on_answer) override;
  void grant(etcd::LeaseId lease,
             etcd::Seconds ttl,
             TimePoint answer_by,
             etcd::OnLease on_answer) override;
  void keep_alive(etcd::LeaseId lease, TimePoint answer_by, etcd::OnLease on_answer) override;
  void revoke(etcd::LeaseId lease, TimePoint answer_by, etcd::OnLease on_answer) override;
  void look_up(etcd::LeaseId lease, TimePoint answer_by, etcd::OnLease on_answer) override;
  etcd::WatchId watch(etcd::Watch watch, etcd::OnWatch on_watch) override;
  void unwatch(etcd::WatchId id) override;

 private:
  std::shared_ptr<SimEtcdRoute> route_;
  std::shared_ptr<SimEtcdWatches> watches_;
};

}  // namespace holdfast::sim
