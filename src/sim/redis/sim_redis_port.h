// SimRedisPort: the Redis port over the simulated network and a model server.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engines/redis/redis_port.h"
#include "sim/redis/redis_node.h"
#include "sim/world/network.h"
#include "sim/world/sim_env.h"

namespace holdfast::sim {

struct SimEnds {
  HostId client;
  HostId server;
};

struct SimSubscriptions;

/// Thread safety: none. Env, network and node outlive it and its calls.
class SimRedisPort final : public redis::RedisPort {
 public:
  using Ends = SimEnds;

  SimRedisPort(SimEnv& env, Network& network, RedisNode& node, Ends ends);
  ~SimRedisPort() override;
  SimRedisPort(const SimRedisPort&) = delete;
  SimRedisPort& operator=(const SimRedisPort&) = delete;

  void send(redis::SharedCall call, TimePoint answer_by, redis::OnAnswer on_answer) override;
  void subscribe(std::string channel, redis::OnHeard on_heard) override;
  void unsubscribe(const std::string& channel) override;

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
  std::shared_ptr<SimSubscriptions> subscriptions_;
};

}  // namespace holdfast::sim
