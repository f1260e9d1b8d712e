// SimRedisPort: the Redis port over the simulated network and a model server.

#pragma once

#include <memory>

#include "engines/redis/redis_port.h"
#include "sim/redis/redis_node.h"
#include "sim/world/network.h"
#include "sim/world/sim_env.h"

namespace holdfast::sim {

/// Thread safety: none. Env, network and node outlive it and its calls.
class SimRedisPort final : public redis::RedisPort {
 public:
  struct Ends {
    HostId client;
    HostId server;
  };

  SimRedisPort(SimEnv& env, Network& network, RedisNode& node, Ends ends)
      : env_{env}, network_{network}, node_{node}, ends_{ends} {}

  void send(redis::SharedCall call, TimePoint answer_by, redis::OnAnswer on_answer) override;

 private:
  struct Pending;
  static void depart(Network& network,
                     RedisNode& node,
                     const Ends& ends,
                     std::shared_ptr<Pending> pending);
  static redis::Reply run(Network& network,
                          RedisNode& node,
                          const Ends& ends,
                          std::uint64_t number,
                          const redis::ScriptCall& call);

  SimEnv& env_;
  Network& network_;
  RedisNode& node_;
  Ends ends_;
};

}  // namespace holdfast::sim
