// SimRedisPort: the Redis port over the simulated network and a model server.

#pragma once

#include <memory>

#include "base/env.h"
#include "engines/redis/redis_port.h"
#include "sim/network.h"
#include "sim/redis_node.h"

namespace holdfast::sim {

/// Thread safety: none. Env, network, node and link outlive it and its calls.
class SimRedisPort final : public redis::RedisPort {
 public:
  SimRedisPort(Env& env, Network& network, RedisNode& node, Link& link)
      : env_{env}, network_{network}, node_{node}, link_{link} {}

  Task<Result<redis::Reply>> eval(redis::ScriptCall call, TimePoint answer_by) override;

 private:
  struct Pending;
  void send(redis::ScriptCall call, std::shared_ptr<Pending> pending);

  Env& env_;
  Network& network_;
  RedisNode& node_;
  Link& link_;
};

}  // namespace holdfast::sim
