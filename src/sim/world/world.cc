#include "sim/world/world.h"

#include <utility>

#include "base/assert.h"

namespace holdfast::sim {
namespace {

// How long a client goes on asking an engine that does not answer.
constexpr Duration kPatience = std::chrono::seconds{10};
// No operation takes longer than its patience; more than this is a hang.
constexpr Duration kHang = std::chrono::minutes{5};
// No two servers show the same time.
constexpr Duration kClocksApart = std::chrono::minutes{10};
// How many worlds have a pooler in front of their PostgreSQL.
constexpr PerMille kPooled{250};

Task<void> acquire_into(
    SimClient& client, LockName name, Millis ttl, Duration wait, Awaited<Acquired> answer) {
  Acquired acquired = co_await client.acquire(std::move(name), ttl, wait);
  answer->emplace(std::move(acquired));
}

Task<void> release_into(SimClient& client, LeaseView lease, Awaited<ReleaseOutcome> answer) {
  const ReleaseOutcome outcome = co_await client.release(std::move(lease), kPatience);
  answer->emplace(outcome);
}

}  // namespace

EngineMaker redis_maker(redis::Settings settings) {
  return [settings = std::move(settings)](Env& env, Ports ports) {
    return std::make_shared<redis::RedisEngine>(env, std::move(ports.redis.front()), settings);
  };
}

World::World(std::uint64_t seed, WorldOptions options)
    : options_{std::move(options)},
      chance_{seed},
      trace_{options_.trace},
      network_{scheduler_, trace_, chance_.draw()},
      servers_{.nodes = {},
               .etcd = nullptr,
               .zookeeper = nullptr,
               .postgres = nullptr,
               .node_hosts = {},
               .resource = FencedRegister{options_.locks},
               .resource_host = network_.add_host()} {
  add_nodes();
  if (options_.prepare != nullptr) options_.prepare(servers_);
}

SimClock World::drawn_clock() { return SimClock{chance_.between(Duration{0}, kClocksApart)}; }

void World::add_nodes() {
  const std::size_t count = options_.nodes;
  switch (options_.servers) {
    case ServerKind::redis:
      for (std::size_t i = 0; i < count; ++i) {
        servers_.nodes.push_back(
            std::make_unique<RedisNode>(scheduler_, drawn_clock(), options_.persistence));
      }
      break;
    case ServerKind::etcd:
      servers_.etcd = std::make_unique<EtcdCluster>(scheduler_, count, chance_.draw());
      break;
    case ServerKind::zookeeper:
      servers_.zookeeper = std::make_unique<ZookeeperEnsemble>(scheduler_, count, chance_.draw());
      break;
    case ServerKind::postgres:
      servers_.postgres = std::make_unique<PostgresNode>(scheduler_, drawn_clock());
      servers_.pooler = chance_.happens(kPooled) ? Pooler::yes : Pooler::no;
      break;
  }
  for (std::size_t i = 0; i < count; ++i) servers_.node_hosts.push_back(network_.add_host());
}

World::~World() { scheduler_.clear(); }

ClientId World::add_client(std::string name) {
  const SimClient::Place place{scheduler_, network_, servers_};
  clients_.push_back(
      std::make_unique<SimClient>(std::move(name), place, chance_.draw(), options_.engine));
  return {clients_.size() - 1};
}

void World::note(EventKind kind, HostId host, HostId peer, std::string_view text) {
  trace_.note(now(), kind, host, peer, 0, text);
}

void World::pause(ClientId id) {
  note(EventKind::paused, client_host(id));
  client(id).env().pause();
}

void World::resume(ClientId id) {
  note(EventKind::resumed, client_host(id));
  client(id).env().resume();
}

void World::kill(ClientId id) {
  note(EventKind::crashed, client_host(id));
  client(id).kill();
}

void World::restart(ClientId id) {
  note(EventKind::started, client_host(id));
  client(id).restart();
}

void World::stop_node(std::size_t index) {
  note(EventKind::crashed, node_host(index));
  servers_.stop(index);
}

void World::start_node(std::size_t index, std::optional<Data> data) {
  note(EventKind::started, node_host(index));
  servers_.start(index, data);
}

void World::cut(HostId from, HostId to) {
  note(EventKind::cut, from, to);
  ++network_.way(from, to).blocked;
}

void World::mend(HostId from, HostId to) {
  int& blocked = network_.way(from, to).blocked;
  if (blocked == 0) return;
  note(EventKind::mended, from, to);
  --blocked;
}

void World::cut_off(ClientId id) {
  for (const HostId node : servers_.node_hosts) {
    cut(client_host(id), node);
    cut(node, client_host(id));
  }
}

void World::reconnect(ClientId id) {
  for (const HostId node : servers_.node_hosts) {
    mend(client_host(id), node);
    mend(node, client_host(id));
  }
}

void World::lose_next_requests(ClientId id, int count) {
  for (const HostId node : servers_.node_hosts) {
    network_.way(client_host(id), node).lose_next = count;
  }
}

void World::lose_next_replies(ClientId id, int count) {
  for (const HostId node : servers_.node_hosts) {
    network_.way(node, client_host(id)).lose_next = count;
  }
}

Awaited<Acquired> World::start_acquire(ClientId id,
                                       std::string_view name,
                                       Millis ttl,
                                       Duration wait) {
  auto answer = std::make_shared<std::optional<Acquired>>();
  client(id).env().spawn(acquire_into(client(id), LockName{std::string{name}}, ttl, wait, answer));
  return answer;
}

Awaited<ReleaseOutcome> World::start_release(ClientId id, const LeaseView& lease) {
  auto answer = std::make_shared<std::optional<ReleaseOutcome>>();
  client(id).env().spawn(release_into(client(id), lease, answer));
  return answer;
}

Acquired World::acquire(ClientId id, std::string_view name, Millis ttl) {
  const auto answer = start_acquire(id, name, ttl);
  const bool answered = scheduler_.run_until([&] { return answer->has_value(); }, kHang);
  HOLDFAST_ASSERT(answered);
  return **answer;
}

LeaseView World::must_acquire(ClientId id, std::string_view name, Millis ttl) {
  const Acquired acquired = acquire(id, name, ttl);
  HOLDFAST_ASSERT(acquired.has_value());
  return *acquired;
}

ReleaseOutcome World::release(ClientId id, const LeaseView& lease) {
  const auto answer = start_release(id, lease);
  const bool answered = scheduler_.run_until([&] { return answer->has_value(); }, kHang);
  HOLDFAST_ASSERT(answered);
  return **answer;
}

}  // namespace holdfast::sim
