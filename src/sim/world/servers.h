// Servers: the machines of a world that clients talk to: the lock servers, which are all of one
// kind, and the resource.
//
// Thread safety: none.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/lease_engine.h"
#include "engines/etcd/etcd_port.h"
#include "engines/zookeeper/zookeeper_port.h"
#include "sim/etcd/etcd_cluster.h"
#include "sim/postgres/sim_postgres_port.h"
#include "sim/redis/redis_node.h"
#include "sim/world/fenced_register.h"
#include "sim/world/network.h"
#include "sim/world/sim_env.h"
#include "sim/zookeeper/zookeeper_ensemble.h"

namespace holdfast::sim {

/// What runs on the lock servers of a world.
enum class ServerKind : std::uint8_t {
  /// Several Redis that know nothing of each other.
  redis,
  /// The members of one etcd cluster.
  etcd,
  /// The members of one ZooKeeper ensemble.
  zookeeper,
  /// One PostgreSQL.
  postgres,
};

/// How a process reaches the lock servers.
struct Ports {
  /// One for each Redis.
  std::vector<std::shared_ptr<redis::RedisPort>> redis{};
  /// One for the whole cluster.
  std::shared_ptr<etcd::EtcdPort> etcd{};
  /// One for the whole ensemble.
  std::shared_ptr<zookeeper::ZookeeperPort> zookeeper{};
  std::shared_ptr<postgres::PostgresPort> postgres{};
};

using EngineMaker = std::function<std::shared_ptr<core::LeaseEngine>(Env& env, Ports ports)>;

struct Servers {
  /// Of ServerKind::redis; empty otherwise.
  std::vector<std::unique_ptr<RedisNode>> nodes;
  /// Of ServerKind::etcd; null otherwise.
  std::unique_ptr<EtcdCluster> etcd;
  /// Of ServerKind::zookeeper; null otherwise.
  std::unique_ptr<ZookeeperEnsemble> zookeeper;
  /// Of ServerKind::postgres; null otherwise.
  std::unique_ptr<PostgresNode> postgres;
  /// Between every client and the PostgreSQL.
  Pooler pooler{Pooler::no};
  /// Of every lock server.
  std::vector<HostId> node_hosts;
  FencedRegister resource;
  HostId resource_host;

  // What befalls a lock server of any kind.
  bool up(std::size_t index) const;
  bool cut_off(std::size_t index) const;
  void stop(std::size_t index);
  /// With what its disk had, unless told otherwise. A member of a cluster has lost nothing.
  void start(std::size_t index, std::optional<Data> data = {});
  void set_clock_rate(std::size_t index, ClockRate rate);
  // What befalls servers of their own: neither etcd nor ZooKeeper.
  void step_clock(std::size_t index, Duration by);
  void replicate(std::size_t index);
  void promote_replica(std::size_t index);
  // What befalls members of a cluster or an ensemble.
  /// Empty: nobody leads.
  std::optional<std::size_t> leader() const;
  void isolate(std::size_t index);
  void rejoin(std::size_t index);
  void change_leader();

  /// For a process at `client`.
  Ports reach(Scheduler& scheduler, SimEnv& env, Network& network, HostId client);
};

}  // namespace holdfast::sim
