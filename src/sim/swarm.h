// A swarm run: one seed draws a world, its faults and its work, runs it, heals it, and lets every
// checker judge what happened.

#pragma once

#include <cstdint>
#include <optional>

#include "sim/history.h"
#include "sim/redis_node.h"

namespace holdfast::sim {

struct SwarmOptions {
  std::size_t clients{3};
  /// How often each client takes a lock and gives it up.
  int rounds{6};
  /// The server's clock. Empty: drawn, within the 1 % the leases allow for.
  std::optional<ClockRate> clock_rate{};
};

struct SwarmReport {
  std::uint64_t trace_hash{0};
  std::uint64_t events{0};
  std::size_t grants{0};
  std::size_t losses{0};
  /// Whether the plan let the server lose its data: leases may overlap then, by design.
  Data data{Data::kept};
  Violations violations;
};

SwarmReport run_swarm(std::uint64_t seed, const SwarmOptions& options = {});

}  // namespace holdfast::sim
