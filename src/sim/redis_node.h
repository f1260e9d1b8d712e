// RedisNode: one simulated machine with a Redis on it: a model server, a wall clock, and a record
// of every script it ran.
//
// Thread safety: none.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/redis_model.h"
#include "sim/scheduler.h"
#include "sim/trace.h"

namespace holdfast::sim {

/// What is left of a server's data after a restart.
enum class Data : std::uint8_t { kept, lost };

/// How far a clock runs wrong, in parts per million: +10 000 is 1 % fast.
struct ClockRate {
  std::int64_t ppm{0};
};

/// One script as the server ran it.
struct Execution {
  WallTime at{};
  redis::ScriptCall call;
  redis::Reply reply;
  /// Rises each time the server loses its data.
  std::uint32_t data_epoch{0};
};

class RedisNode {
 public:
  RedisNode(const Scheduler& scheduler, Trace& trace) : scheduler_{scheduler}, trace_{trace} {}

  bool up() const { return up_; }
  void stop() { up_ = false; }
  void start(Data data);

  void set_clock_rate(ClockRate rate) { rate_ = rate; }
  /// Moves the wall clock at once.
  void step_clock(WallTime by) { step_ += by; }
  WallTime wall_time() const;

  /// Precondition: up().
  redis::Reply eval(const redis::ScriptCall& call);

  /// Sends one command as a client that is not ours.
  redis::Reply command(const std::vector<std::string>& words);
  /// The value of a string key; empty when there is none.
  std::optional<std::string> get(const std::string& key);

  RedisModel& model() { return model_; }
  const std::vector<Execution>& executions() const { return executions_; }
  std::uint32_t data_epoch() const { return data_epoch_; }

 private:
  const Scheduler& scheduler_;
  Trace& trace_;
  RedisModel model_;
  bool up_{true};
  ClockRate rate_{};
  WallTime step_{0};
  std::uint32_t data_epoch_{0};
  std::vector<Execution> executions_;
};

}  // namespace holdfast::sim
