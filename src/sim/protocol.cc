#include "sim/protocol.h"

#include <array>
#include <utility>

#include "engines/etcd/etcd_engine.h"
#include "engines/postgres/postgres_engine.h"
#include "engines/redis/redis_engine.h"
#include "engines/redis/redis_scripts.h"
#include "engines/redlock/redlock_engine.h"
#include "engines/redlock/redlock_scripts.h"
#include "engines/zookeeper/zookeeper_engine.h"
#include "sim/etcd/plain_etcd_engine.h"
#include "sim/postgres/plain_postgres_engine.h"
#include "sim/redis/plain_scripts.h"
#include "sim/redis/script_swap.h"
#include "sim/zookeeper/plain_zookeeper_engine.h"

namespace holdfast::sim {
namespace {

using Engine = std::shared_ptr<core::LeaseEngine>;

Engine make_redis(Env& env, Ports ports, const Pace& pace) {
  const redis::Settings settings{.timeout = pace.timeout, .patience = pace.patience};
  return std::make_shared<redis::RedisEngine>(env, std::move(ports.redis.front()), settings);
}

Engine make_redlock(Env& env, Ports ports, const Pace& pace) {
  const redlock::Settings settings{.timeout = pace.timeout, .patience = pace.patience};
  return std::make_shared<redlock::RedlockEngine>(env, std::move(ports.redis), settings);
}

Engine make_etcd(Env& env, Ports ports, const Pace& pace) {
  const etcd::Settings settings{.timeout = pace.timeout, .patience = pace.patience};
  return std::make_shared<etcd::EtcdEngine>(env, std::move(ports.etcd), settings);
}

Engine make_plain_etcd(Env& env, Ports ports, const Pace& pace) {
  const PlainEtcdEngine::Settings settings{.timeout = pace.timeout, .patience = pace.patience};
  return std::make_shared<PlainEtcdEngine>(env, std::move(ports.etcd), settings);
}

Engine make_zookeeper(Env& env, Ports ports, const Pace& pace) {
  const zookeeper::Settings settings{.timeout = pace.timeout, .patience = pace.patience};
  return std::make_shared<zookeeper::ZookeeperEngine>(env, std::move(ports.zookeeper), settings);
}

Engine make_plain_zookeeper(Env& env, Ports ports, const Pace& pace) {
  const PlainZookeeperEngine::Settings settings{.timeout = pace.timeout, .patience = pace.patience};
  return std::make_shared<PlainZookeeperEngine>(env, std::move(ports.zookeeper), settings);
}

Engine make_postgres(Env& env, Ports ports, const Pace& pace) {
  const postgres::Settings settings{.timeout = pace.timeout, .patience = pace.patience};
  return std::make_shared<postgres::PostgresEngine>(env, std::move(ports.postgres), settings);
}

Engine make_plain_postgres(Env& env, Ports ports, const Pace& pace) {
  const PlainPostgresEngine::Settings settings{.timeout = pace.timeout, .patience = pace.patience};
  return std::make_shared<PlainPostgresEngine>(env, std::move(ports.postgres), settings);
}

// As if it had joined the set of the engine's settings.
void join_set(Servers& servers) {
  const redlock::Settings settings;
  for (const auto& node : servers.nodes) {
    node->command({"SET", redlock::Keys::high_of(settings.prefix, settings.set), "0"});
    node->sync();
  }
}

Ports plain(Ports ports) {
  const std::vector<Swap> swaps{{&redis::kAcquireScript, &kPlainTakeScript},
                                {&redis::kRefreshScript, &kPlainTakeAllScript},
                                {&redlock::kTakeScript, &kPlainTakeScript},
                                {&redlock::kExtendScript, &kPlainExtendScript}};
  for (auto& port : ports.redis) port = std::make_shared<ScriptSwap>(std::move(port), swaps);
  return ports;
}

Engine make_plain_redis(Env& env, Ports ports, const Pace& pace) {
  return make_redis(env, plain(std::move(ports)), pace);
}

Engine make_plain_redlock(Env& env, Ports ports, const Pace& pace) {
  return make_redlock(env, plain(std::move(ports)), pace);
}

constexpr FaultSet kOfRedis = FaultSet::all()
                                  .without(FaultClass::isolation)
                                  .without(FaultClass::leader_change)
                                  .without(FaultClass::compaction)
                                  .without(FaultClass::stuck_leader);

// Tokens of a majority are counters that nodes must not lose.
constexpr FaultSet kCountersKept =
    kOfRedis.without(FaultClass::data_loss).without(FaultClass::promotion);

// Nothing arrives twice over a stream, and what was acknowledged is on the disk.
constexpr FaultSet kOfPostgres =
    kOfRedis.without(FaultClass::duplication).without(FaultClass::data_loss);

// Nothing arrives twice over a stream, what was acknowledged is on the disks of a majority, and
// leases end by clocks that nobody can step.
constexpr FaultSet kOfEtcd = FaultSet::all()
                                 .without(FaultClass::duplication)
                                 .without(FaultClass::data_loss)
                                 .without(FaultClass::promotion)
                                 .without(FaultClass::clock_step);

// No change is forgotten as long as somebody may ask for it, and a leader that was stuck ends
// nothing without a majority.
constexpr FaultSet kOfZookeeper =
    kOfEtcd.without(FaultClass::compaction).without(FaultClass::stuck_leader);

constexpr Protocol of_postgres(std::string_view name,
                               std::string_view summary,
                               Register resource,
                               decltype(Protocol::make) make) {
  return {.name = name,
          .summary = summary,
          .servers = ServerKind::postgres,
          .nodes = 1,
          .resource = resource,
          .faults = kOfPostgres,
          .make = make};
}

constexpr std::array kProtocols{
    Protocol{"redis",
             "one Redis, with tokens",
             ServerKind::redis,
             1,
             Register::fenced,
             kOfRedis,
             &make_redis},
    Protocol{"redis-plain",
             "one Redis, SET NX PX and compare-and-delete",
             ServerKind::redis,
             1,
             Register::unfenced,
             kOfRedis,
             &make_plain_redis},
    Protocol{"redlock",
             "a majority of Redis nodes, with tokens in two phases",
             ServerKind::redis,
             3,
             Register::fenced,
             kCountersKept,
             &make_redlock,
             &join_set},
    Protocol{"redlock-plain",
             "Redlock as published",
             ServerKind::redis,
             3,
             Register::unfenced,
             kOfRedis,
             &make_plain_redlock},
    Protocol{.name = "etcd",
             .summary = "an etcd cluster, with tokens",
             .servers = ServerKind::etcd,
             .nodes = 3,
             .resource = Register::fenced,
             .faults = kOfEtcd,
             .make = &make_etcd,
             .ttl_min = EtcdModel::kTtlMin},
    Protocol{.name = "etcd-plain",
             .summary = "an etcd cluster, as its own clients take locks",
             .servers = ServerKind::etcd,
             .nodes = 3,
             .resource = Register::unfenced,
             .faults = kOfEtcd,
             .make = &make_plain_etcd,
             .ttl_min = EtcdModel::kTtlMin},
    Protocol{.name = "zookeeper",
             .summary = "a ZooKeeper ensemble, with tokens",
             .servers = ServerKind::zookeeper,
             .nodes = 3,
             .resource = Register::fenced,
             .faults = kOfZookeeper,
             .make = &make_zookeeper,
             .ttl_min = ZookeeperEnsemble::kTimeoutMin},
    Protocol{.name = "zookeeper-plain",
             .summary = "a ZooKeeper ensemble, as its usual clients take locks",
             .servers = ServerKind::zookeeper,
             .nodes = 3,
             .resource = Register::unfenced,
             .faults = kOfZookeeper,
             .make = &make_plain_zookeeper,
             .ttl_min = ZookeeperEnsemble::kTimeoutMin,
             .may_break = kOfZookeeper},
    of_postgres("postgres", "one PostgreSQL, with tokens", Register::fenced, &make_postgres),
    of_postgres("postgres-plain",
                "one PostgreSQL, a row with an owner and the time it ends",
                Register::unfenced,
                &make_plain_postgres),
};

}  // namespace

std::span<const Protocol> protocols() { return kProtocols; }

const Protocol* find_protocol(std::string_view name) {
  for (const Protocol& protocol : kProtocols) {
    if (protocol.name == name) return &protocol;
  }
  return nullptr;
}

}  // namespace holdfast::sim
