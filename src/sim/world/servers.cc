#include "sim/world/servers.h"

#include "sim/etcd/sim_etcd_port.h"
#include "sim/redis/sim_redis_port.h"

namespace holdfast::sim {

bool Servers::up(std::size_t index) const { return etcd ? etcd->up(index) : nodes.at(index)->up(); }

void Servers::stop(std::size_t index) {
  if (etcd) {
    etcd->stop(index);
  } else {
    nodes.at(index)->stop();
  }
}

void Servers::start(std::size_t index, std::optional<Data> data) {
  if (etcd) {
    etcd->start(index);
  } else if (data) {
    nodes.at(index)->start(*data);
  } else {
    nodes.at(index)->start();
  }
}

void Servers::set_clock_rate(std::size_t index, ClockRate rate) {
  if (etcd) {
    etcd->set_clock_rate(index, rate);
  } else {
    nodes.at(index)->set_clock_rate(rate);
  }
}

Ports Servers::reach(SimEnv& env, Network& network, HostId client) {
  Ports ports;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const SimEnds ends{.client = client, .server = node_hosts[i]};
    ports.redis.push_back(std::make_shared<SimRedisPort>(env, network, *nodes[i], ends));
  }
  if (etcd) {
    EtcdEnds ends{.client = client, .members = node_hosts};
    ports.etcd = std::make_shared<SimEtcdPort>(env, network, *etcd, std::move(ends));
  }
  return ports;
}

}  // namespace holdfast::sim
