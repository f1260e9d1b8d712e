// ScriptSwap: a port that runs other scripts than it was asked to.
//
// It turns an engine into another protocol, or into a broken one, without a line of the engine
// knowing.

#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "engines/redis/redis_port.h"

namespace holdfast::sim {

struct Swap {
  const redis::Script* asked;
  const redis::Script* run;
};

/// Thread safety: as the port beneath.
class ScriptSwap final : public redis::RedisPort {
 public:
  ScriptSwap(std::shared_ptr<redis::RedisPort> port, std::vector<Swap> swaps)
      : port_{std::move(port)}, swaps_{std::move(swaps)} {}

  void send(redis::SharedCall call, TimePoint answer_by, redis::OnAnswer on_answer) override {
    for (const Swap& swap : swaps_) {
      if (call->script != swap.asked) continue;
      call = redis::share({.script = swap.run, .keys = call->keys, .args = call->args});
      break;
    }
    port_->send(std::move(call), answer_by, std::move(on_answer));
  }

  void subscribe(std::string channel, redis::OnHeard on_heard) override {
    port_->subscribe(std::move(channel), std::move(on_heard));
  }
  void unsubscribe(const std::string& channel) override { port_->unsubscribe(channel); }

 private:
  std::shared_ptr<redis::RedisPort> port_;
  std::vector<Swap> swaps_;
};

}  // namespace holdfast::sim
