// RedisNode: one simulated machine with a Redis on it: a model server, a wall clock, a disk and a
// replica that lags behind.
//
// Thread safety: none.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/redis/redis_model.h"
#include "sim/world/disk.h"
#include "sim/world/scheduler.h"
#include "sim/world/sim_clock.h"

namespace holdfast::sim {

/// What is left of a server's data after a restart, whatever its disk has.
enum class Data : std::uint8_t { kept, lost };

/// One script as the server ran it.
struct Execution {
  WallTime at{};
  redis::ScriptCall call;
  redis::Reply reply;
  std::uint32_t era{0};
};

/// The same while it is at hand, for observers.
struct ScriptRun {
  WallTime at{};
  const redis::ScriptCall& call;
  const redis::Reply& reply;
  std::uint32_t era{0};
};

class RedisNode {
 public:
  using Observer = std::function<void(const ScriptRun&)>;

  /// The scheduler outlives the node. `clock` is the machine's wall clock, from some day in 2026.
  explicit RedisNode(const Scheduler& scheduler,
                     SimClock clock = SimClock{},
                     Persistence persistence = Persistence::always)
      : scheduler_{scheduler}, clock_{clock}, disk_{persistence} {}
  RedisNode(const RedisNode&) = delete;
  RedisNode& operator=(const RedisNode&) = delete;

  bool up() const { return up_; }
  /// The machine goes down: connections break, and so subscriptions end.
  void stop();
  /// Runs again, with what the disk had when it went down. Precondition: !up().
  void start();
  /// Runs again, with what it had when it went down or with nothing.
  void start(Data data);

  /// The fsync of every second. Without effect unless Persistence::everysec, or while down.
  void sync();
  /// The replica has caught up. Without effect while down.
  void replicate();
  /// The replica takes over, with the state it had when it last caught up. Runs afterwards, with
  /// the same clock; a new replica begins with the same state.
  void promote_replica();

  void set_clock_rate(ClockRate rate) { clock_.set_rate(scheduler_.now(), rate); }
  /// Moves the wall clock at once.
  void step_clock(Duration by);
  WallTime wall_time() const;

  /// Rises each time the server loses data, that is differs from what clients had been told, and
  /// each time its clock is stepped: leases may end early then.
  std::uint32_t era() const { return era_; }

  /// Precondition: up().
  redis::Reply eval(const redis::ScriptCall& call);

  /// Sends one command as a client that is not ours.
  redis::Reply command(const std::vector<std::string>& words);
  /// The value of a string key; empty when there is none.
  std::optional<std::string> get(const std::string& key);

  RedisModel& model() { return model_; }

  /// Called after each script. One at a time; an empty one ends it.
  void observe(Observer observer) { observer_ = std::move(observer); }

  /// From now on executions() grows.
  void record_executions() { recording_ = true; }
  const std::vector<Execution>& executions() const { return executions_; }

 private:
  /// Puts other data in the place of what the server has, on its disk too.
  void replace(const RedisKeyspace& data);

  const Scheduler& scheduler_;
  SimClock clock_;
  RedisModel model_;
  Disk<RedisKeyspace> disk_;
  RedisKeyspace replica_;
  bool up_{true};
  std::uint32_t era_{0};
  Observer observer_;
  bool recording_{false};
  std::vector<Execution> executions_;
};

}  // namespace holdfast::sim
