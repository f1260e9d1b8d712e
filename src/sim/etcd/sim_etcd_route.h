// SimEtcdRoute: the way from one client to a model cluster, and the member it asks at present.
//
// Thread safety: none. Lifetime: shared by the port and the messages under way, which outlive the
// port of a process that was killed, but not the world.

#pragma once

#include "sim/etcd/sim_etcd_port.h"

namespace holdfast::sim {

struct SimEtcdRoute {
  SimEnv& env;
  Network& network;
  EtcdCluster& cluster;
  EtcdEnds ends;
  std::size_t asks{0};

  HostId host(std::size_t member) const { return ends.members.at(member); }

  /// The next request goes to another member, unless that was decided already.
  void leave(std::size_t member) {
    if (asks == member) asks = (asks + 1) % ends.members.size();
  }
};

}  // namespace holdfast::sim
