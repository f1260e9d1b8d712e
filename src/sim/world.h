// World: a few clients, a network and one Redis, in virtual time and from one seed.
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

#include "sim/sim_client.h"

namespace holdfast::sim {

struct ClientId {
  std::size_t index{0};
  friend constexpr auto operator<=>(ClientId, ClientId) = default;
};

/// An answer that may come later. Empty until then.
template <class T>
using Awaited = std::shared_ptr<std::optional<T>>;

class World {
 public:
  explicit World(std::uint64_t seed, redis::Settings settings = {});
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  ClientId add_client(std::string name);

  /// True time.
  TimePoint now() const { return scheduler_.now(); }
  void advance(Duration duration) { scheduler_.advance(duration); }

  /// The client runs nothing until resumed, and time goes on.
  void pause(ClientId client);
  void resume(ClientId client);
  /// The client ends without another word.
  void kill(ClientId client);

  /// Every message to and from the client is lost until reconnected.
  void cut_off(ClientId client) { link(client).cut = true; }
  void reconnect(ClientId client) { link(client).cut = false; }
  void lose_next_requests(ClientId client, int count) { link(client).lose_requests = count; }
  void lose_next_replies(ClientId client, int count) { link(client).lose_replies = count; }
  void set_faults(const NetworkFaults& faults) { network_.set_faults(faults); }

  /// Asks for the lock, and runs the world until the answer is there.
  Acquired acquire(ClientId client, std::string_view name, Millis ttl);
  /// Stops the process if the lock is not granted.
  LeaseView must_acquire(ClientId client, std::string_view name, Millis ttl);
  ReleaseOutcome release(ClientId client, const LeaseView& lease);

  /// The same without running the world.
  Awaited<Acquired> start_acquire(ClientId client, std::string_view name, Millis ttl);
  Awaited<ReleaseOutcome> start_release(ClientId client, const LeaseView& lease);

  RedisNode& node() { return node_; }
  Network& network() { return network_; }
  Scheduler& scheduler() { return scheduler_; }
  Chance& chance() { return chance_; }
  Trace& trace() { return trace_; }
  SimClient& client(ClientId client) { return *clients_.at(client.index); }

 private:
  Link& link(ClientId id) { return client(id).link(); }

  redis::Settings settings_;
  Chance chance_;
  Trace trace_;
  Scheduler scheduler_;
  Network network_;
  RedisNode node_;
  std::vector<std::unique_ptr<SimClient>> clients_;
};

}  // namespace holdfast::sim
