// SimSubscription: one channel of a model server, heard across the simulated network.
//
// As over a connection of its own: the client asks again and again whether it is still subscribed,
// and is subscribed anew when the server has forgotten.
//
// Thread safety: none. Lifetime: shared by the port and the messages under way.

#pragma once

#include <memory>
#include <string>

#include "sim/redis/sim_redis_port.h"

namespace holdfast::sim {

struct SimSubscription {
  SimEnv& env;
  Network& network;
  RedisNode& node;
  SimEnds ends;
  std::string channel;
  redis::OnHeard on_heard;
  bool over{false};
  /// At the server.
  PubSub::Id id{0};
  /// The one whose beginning the client has heard of.
  PubSub::Id heard_of{0};
};

/// Keeps it up until it is over.
Task<void> keep_subscribed(std::shared_ptr<SimSubscription> subscription);

}  // namespace holdfast::sim
