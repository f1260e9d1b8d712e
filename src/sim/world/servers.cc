#include "sim/world/servers.h"

#include "sim/etcd/sim_etcd_port.h"
#include "sim/redis/sim_redis_port.h"
#include "sim/zookeeper/sim_zookeeper_port.h"

namespace holdfast::sim {

bool Servers::up(std::size_t index) const {
  if (etcd) return etcd->up(index);
  if (zookeeper) return zookeeper->up(index);
  if (postgres) return postgres->up();
  return nodes.at(index)->up();
}

bool Servers::cut_off(std::size_t index) const {
  if (etcd) return etcd->cut_off(index);
  return zookeeper && zookeeper->cut_off(index);
}

void Servers::stop(std::size_t index) {
  if (etcd) {
    etcd->stop(index);
  } else if (zookeeper) {
    zookeeper->stop(index);
  } else if (postgres) {
    postgres->stop();
  } else {
    nodes.at(index)->stop();
  }
}

void Servers::start(std::size_t index, std::optional<Data> data) {
  if (etcd) {
    etcd->start(index);
  } else if (zookeeper) {
    zookeeper->start(index);
  } else if (postgres) {
    postgres->start();
  } else if (data) {
    nodes.at(index)->start(*data);
  } else {
    nodes.at(index)->start();
  }
}

void Servers::set_clock_rate(std::size_t index, ClockRate rate) {
  if (etcd) {
    etcd->set_clock_rate(index, rate);
  } else if (zookeeper) {
    zookeeper->set_clock_rate(index, rate);
  } else if (postgres) {
    postgres->set_clock_rate(rate);
  } else {
    nodes.at(index)->set_clock_rate(rate);
  }
}

void Servers::step_clock(std::size_t index, Duration by) {
  postgres ? postgres->step_clock(by) : nodes.at(index)->step_clock(by);
}

void Servers::replicate(std::size_t index) {
  postgres ? postgres->replicate() : nodes.at(index)->replicate();
}

void Servers::promote_replica(std::size_t index) {
  postgres ? postgres->promote_replica() : nodes.at(index)->promote_replica();
}

std::optional<std::size_t> Servers::leader() const {
  if (etcd) return etcd->leader();
  return zookeeper ? zookeeper->leader() : std::nullopt;
}

void Servers::isolate(std::size_t index) {
  if (etcd) etcd->isolate(index);
  if (zookeeper) zookeeper->isolate(index);
}

void Servers::rejoin(std::size_t index) {
  if (etcd) etcd->rejoin(index);
  if (zookeeper) zookeeper->rejoin(index);
}

void Servers::change_leader() {
  if (etcd) etcd->change_leader();
  if (zookeeper) zookeeper->change_leader();
}

Ports Servers::reach(Scheduler& scheduler, SimEnv& env, Network& network, HostId client) {
  Ports ports;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const SimEnds ends{.client = client, .server = node_hosts[i]};
    ports.redis.push_back(std::make_shared<SimRedisPort>(env, network, *nodes[i], ends));
  }
  if (etcd) {
    EtcdEnds ends{.client = client, .members = node_hosts};
    ports.etcd = std::make_shared<SimEtcdPort>(env, network, *etcd, std::move(ends));
  }
  if (zookeeper) {
    ZookeeperEnds ends{.client = client, .members = node_hosts};
    ports.zookeeper = std::make_shared<SimZookeeperPort>(env, network, *zookeeper, std::move(ends));
  }
  if (postgres) {
    const PostgresEnds ends{.client = client, .server = node_hosts.front()};
    ports.postgres = std::make_shared<SimPostgresPort>(
        SimPostgresPort::Route{scheduler, env, network, *postgres, ends, pooler});
  }
  return ports;
}

}  // namespace holdfast::sim
