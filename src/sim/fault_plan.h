// FaultPlan: which faults a swarm run has, and the hand that inflicts them.

#pragma once

#include <cstdint>
#include <vector>

#include "sim/history.h"
#include "sim/world.h"

namespace holdfast::sim {

/// Each seed turns some kinds of fault on and others off: a world with every fault at once explores
/// less than many worlds with a few each.
struct FaultPlan {
  NetworkFaults network;
  ClockRate clock_rate;
  bool pauses{false};
  bool partitions{false};
  bool restarts{false};
  bool data_loss{false};
  bool kills{false};
};

FaultPlan draw_plan(Chance& chance, Duration ttl);

/// Inflicts the plan's faults until healed.
///
/// Thread safety: none. The world and the history outlive it.
class Nemesis {
 public:
  Nemesis(World& world, const FaultPlan& plan, Duration ttl, std::size_t clients, History& history);

  void start();
  /// Ends every fault but death, for good.
  void heal();

  /// When the client was killed; TimePoint::max() while it lives.
  TimePoint killed_at(std::size_t client) const { return killed_at_.at(client); }

 private:
  void strike();
  void pause_one();
  void cut_one_off();
  void restart_node();
  void kill_one();
  void resume(std::size_t client);
  ClientId any_client() { return {chance_.below(killed_at_.size())}; }
  Duration a_while() { return chance_.between(Duration{0}, ttl_ * 2); }

  World& world_;
  FaultPlan plan_;
  Duration ttl_;
  History& history_;
  Chance chance_;
  bool healed_{false};
  std::vector<TimePoint> killed_at_;
};

}  // namespace holdfast::sim
