// SimSubscriptions: the channels a port hears of a model server, across the simulated network.
//
// As over one connection for all of them: the client asks again and again whether it is still
// subscribed, and is subscribed anew to what the server has forgotten.
//
// Thread safety: none. Lifetime: shared by the port and the messages under way.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/redis/sim_redis_port.h"

namespace holdfast::sim {

struct SimSubscriptions {
  struct Channel {
    std::string name;
    redis::OnHeard on_heard;
    bool over{false};
    /// At the server.
    PubSub::Id id{0};
    /// The one whose beginning the client has heard of.
    PubSub::Id heard_of{0};
  };

  SimEnv& env;
  Network& network;
  RedisNode& node;
  SimEnds ends;
  std::vector<std::shared_ptr<Channel>> channels{};
  bool kept_up{false};
};

/// Hears one more channel, from now on until it is over.
void hear_channel(const std::shared_ptr<SimSubscriptions>& to,
                  std::string name,
                  redis::OnHeard on_heard);

void end_channel(SimSubscriptions& of, const std::string& name);

/// The process is gone, and hears nothing more.
void end_all(SimSubscriptions& of);

}  // namespace holdfast::sim
