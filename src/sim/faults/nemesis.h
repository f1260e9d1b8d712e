// Nemesis: the hand that inflicts a plan's faults on a world, and writes down what it did.
//
// Thread safety: none. The world and the history outlive it.

#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "sim/faults/fault_plan.h"
#include "sim/world/history.h"
#include "sim/world/world.h"

namespace holdfast::sim {

class Nemesis {
 public:
  /// `started` is called when a client that crashed runs again.
  Nemesis(World& world,
          std::uint64_t seed,
          FaultPlan plan,
          Duration ttl,
          History& history,
          std::function<void(ClientId)> started);

  void start();
  /// Ends every fault, for good. Clocks that were stepped stay where they are, and clients whose
  /// clocks are slow keep them.
  void heal();

  /// When a life of a client ended; kNever while it has not.
  TimePoint crashed_at(std::size_t client, std::uint32_t incarnation) const;

 private:
  struct Class {
    FaultClass kind;
    void (Nemesis::*strike)(Chance&);
  };

  void attend(ClientId client);
  bool pause_now(ClientId client, SimEnv::Moment moment);
  void resume(ClientId client);
  void plan_strike(const Class& what, Chance chance);

  void partition(Chance& chance);
  void one_way(Chance& chance);
  void clog(Chance& chance);
  void crash(Chance& chance);
  void restart(Chance& chance);
  void lose_data(Chance& chance);
  void promote(Chance& chance);
  void step_clock(Chance& chance);
  // Of clusters.
  void isolate(Chance& chance);
  void change_leader(Chance& chance);
  void compact(Chance& chance);
  void stick_leader(Chance& chance);

  void cut(HostId from, HostId to, Duration duration);
  /// `data`: what it has afterwards, whatever its disk does.
  void stop_node(std::size_t node, Duration duration, std::optional<Data> data);
  void revive(ClientId client);
  void sync_disks();
  void replicate();

  ClientId any_client(Chance& chance) const { return {chance.below(world_.clients())}; }
  std::size_t any_node(Chance& chance) const { return chance.below(world_.nodes()); }
  HostId any_server(Chance& chance) const;
  Duration a_while(Chance& chance) const { return chance.between(Duration{0}, ttl_ * 2); }
  void record(FaultClass kind, TimePoint end, std::size_t whom);

  World& world_;
  std::uint64_t seed_;
  FaultPlan plan_;
  Duration ttl_;
  History& history_;
  std::function<void(ClientId)> started_;
  Chance pauses_;
  Chance replication_;
  bool healed_{false};
  /// What each node that is down will have.
  std::vector<std::optional<Data>> starts_with_;
  std::vector<std::vector<TimePoint>> crashes_;
  std::vector<bool> down_;
};

}  // namespace holdfast::sim
