// World: a few clients, a network, lock servers and a resource, in virtual time and from one seed.
//
//     World world{/*seed=*/7};
//     const ClientId alice = world.add_client("alice");
//     const LeaseView lease = world.must_acquire(alice, "ledger", 10s);
//     world.pause(alice);
//     world.advance(10s);
//
// Everything between the port and the lease is production code. Nothing sleeps and nothing opens a
// socket; the same seed and the same calls give the same trace.
//
// Thread safety: none; a world lives on one thread.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engines/redis/redis_engine.h"
#include "sim/world/sim_client.h"

namespace holdfast::sim {

struct ClientId {
  std::size_t index{0};
  friend constexpr auto operator<=>(ClientId, ClientId) = default;
};

/// An answer that may come later. Empty until then.
template <class T>
using Awaited = std::shared_ptr<std::optional<T>>;

/// One Redis, with tokens.
EngineMaker redis_maker(redis::Settings settings = {});

struct WorldOptions {
  EngineMaker engine{redis_maker()};
  ServerKind servers{ServerKind::redis};
  std::size_t nodes{1};
  /// How many values the resource keeps: one per lock.
  std::size_t locks{1};
  Persistence persistence{Persistence::always};
  Trace::Keep trace{Trace::Keep::nothing};
  /// Called with the servers before the world begins. Null: nothing is done.
  void (*prepare)(Servers& servers){nullptr};
};

class World {
 public:
  explicit World(std::uint64_t seed, WorldOptions options = {});
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  ClientId add_client(std::string name);
  std::size_t clients() const { return clients_.size(); }
  /// How many lock servers.
  std::size_t nodes() const { return servers_.node_hosts.size(); }

  /// True time.
  TimePoint now() const { return scheduler_.now(); }
  void advance(Duration duration) { scheduler_.advance(duration); }

  /// The client runs nothing until resumed, and time goes on.
  void pause(ClientId client);
  void resume(ClientId client);
  /// The client ends without another word.
  void kill(ClientId client);
  void restart(ClientId client);

  void stop_node(std::size_t index);
  /// With what its disk had, unless told otherwise.
  void start_node(std::size_t index, std::optional<Data> data = {});

  /// Messages from one host to another are lost until mended as often as cut.
  void cut(HostId from, HostId to);
  void mend(HostId from, HostId to);
  /// All messages between the client and the lock servers.
  void cut_off(ClientId client);
  void reconnect(ClientId client);
  void lose_next_requests(ClientId client, int count);
  void lose_next_replies(ClientId client, int count);
  void set_faults(const NetworkFaults& faults) { network_.set_faults(faults); }

  /// Asks for the lock once, and runs the world until the answer is there.
  Acquired acquire(ClientId client, std::string_view name, Millis ttl);
  /// Stops the process if the lock is not granted.
  LeaseView must_acquire(ClientId client, std::string_view name, Millis ttl);
  ReleaseOutcome release(ClientId client, const LeaseView& lease);

  /// The same without running the world; may wait for the lock.
  Awaited<Acquired> start_acquire(ClientId client,
                                  std::string_view name,
                                  Millis ttl,
                                  Duration wait = {});
  Awaited<ReleaseOutcome> start_release(ClientId client, const LeaseView& lease);

  /// Precondition: ServerKind::redis.
  RedisNode& node(std::size_t index = 0) { return *servers_.nodes.at(index); }
  /// Precondition: ServerKind::etcd.
  EtcdCluster& etcd() { return *servers_.etcd; }
  /// Precondition: ServerKind::zookeeper.
  ZookeeperEnsemble& zookeeper() { return *servers_.zookeeper; }
  /// Precondition: ServerKind::postgres.
  PostgresNode& postgres() { return *servers_.postgres; }
  HostId node_host(std::size_t index = 0) const { return servers_.node_hosts.at(index); }
  HostId client_host(ClientId client) const { return clients_.at(client.index)->host(); }
  Servers& servers() { return servers_; }
  Network& network() { return network_; }
  Scheduler& scheduler() { return scheduler_; }
  Chance& chance() { return chance_; }
  Trace& trace() { return trace_; }
  SimClient& client(ClientId client) { return *clients_.at(client.index); }

  void note(EventKind kind, HostId host, HostId peer = {}, std::string_view text = {});

 private:
  void add_nodes();
  SimClock drawn_clock();

  WorldOptions options_;
  Chance chance_;
  Trace trace_;
  Scheduler scheduler_;
  Network network_;
  Servers servers_;
  std::vector<std::unique_ptr<SimClient>> clients_;
};

}  // namespace holdfast::sim
