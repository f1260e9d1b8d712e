// FaultPlan: which faults the world of a seed has, and how bad they are.
//
// Each seed turns some kinds of fault on and others off: a world with every fault at once explores
// less than many worlds with a few each.

#pragma once

#include <vector>

#include "sim/faults/fault_class.h"
#include "sim/redis/redis_node.h"
#include "sim/world/network.h"
#include "sim/world/sim_clock.h"

namespace holdfast::sim {

/// Half of what leases allow for, in parts per million: client and server may be wrong in opposite
/// directions.
inline constexpr std::int64_t kAllowedPpm = 5'000;

struct FaultPlan {
  FaultSet classes;
  NetworkFaults network;
  /// At every step of every process.
  PerMille pause;
  Persistence persistence{Persistence::always};
  /// Within what leases allow for, unless the plan has clock_drift or client_drift.
  std::vector<ClockRate> node_rates;
  std::vector<ClockRate> client_rates;
  /// A counter that was lost and a clock that went back are one fault too many: tokens need one of
  /// the two.
  bool clocks_go_back{true};
};

struct Cast {
  std::size_t nodes{1};
  std::size_t clients{1};
};

/// Only classes in `allowed`. Each class is drawn from a stream of its own, so that leaving one out
/// leaves the others as they are.
FaultPlan draw_plan(std::uint64_t seed, FaultSet allowed, Duration ttl, const Cast& cast);

/// The stream of a class.
Chance chance_of(std::uint64_t seed, FaultClass kind);

}  // namespace holdfast::sim
