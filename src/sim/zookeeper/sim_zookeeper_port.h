// SimZookeeperPort: the ZooKeeper port over the simulated network and a model ensemble.
//
// As ZooKeeper's C client does it: one connection at a time, a ping when it was silent for a third
// of the timeout, another server when nothing was heard for two thirds, watches set again there.
// It knows no deadline: only a server tells it that a session has expired.

#pragma once

#include <memory>
#include <vector>

#include "engines/zookeeper/zookeeper_port.h"
#include "sim/world/network.h"
#include "sim/world/sim_env.h"
#include "sim/zookeeper/zookeeper_ensemble.h"

namespace holdfast::sim {

struct ZookeeperEnds {
  HostId client;
  /// Of every member, in its order.
  std::vector<HostId> members;
};

/// Thread safety: none. Env, network and ensemble outlive it and its sessions.
class SimZookeeperPort final : public zookeeper::ZookeeperPort {
 public:
  SimZookeeperPort(SimEnv& env, Network& network, ZookeeperEnsemble& ensemble, ZookeeperEnds ends)
      : route_{env, network, ensemble, std::move(ends)} {}

  std::unique_ptr<zookeeper::ZookeeperSession> open(zookeeper::SessionAsk ask,
                                                    zookeeper::OnEvent on_event) override;

  /// The way from one client to a model ensemble.
  struct Route {
    SimEnv& env;
    Network& network;
    ZookeeperEnsemble& ensemble;
    ZookeeperEnds ends;
  };

 private:
  Route route_;
};

}  // namespace holdfast::sim
