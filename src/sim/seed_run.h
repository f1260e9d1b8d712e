// One seed: draws a world, its faults and its work, runs it, heals it, and lets every checker judge
// what happened.

#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "sim/mutants/mutant.h"
#include "sim/protocol.h"
#include "sim/workload.h"
#include "sim/world/history.h"
#include "sim/world/trace.h"

namespace holdfast::sim {

struct SeedOptions {
  const Protocol* protocol{nullptr};
  /// Null: the protocol as it is.
  const Mutant* mutant{nullptr};
  /// 0: as many as the protocol usually has.
  std::size_t nodes{0};
  std::size_t clients{4};
  Work work{Work::sections};
  /// Of these, those the protocol can bear are drawn from.
  FaultSet faults{FaultSet::all()};
  /// How many events there are before everything is healed and progress demanded.
  std::uint64_t events{1260};
  /// Ends the world after so many events, as it stands: what a prefix shows.
  std::uint64_t stop_after{std::numeric_limits<std::uint64_t>::max()};
  Trace::Keep trace{Trace::Keep::nothing};
};

struct HostName {
  HostId host;
  std::string name;
};

struct SeedReport {
  std::uint64_t seed{0};
  std::uint64_t trace_hash{0};
  std::uint64_t events{0};
  std::uint64_t grants{0};
  std::uint64_t losses{0};
  /// Operations of late holders that the resource refused.
  std::uint64_t refused_stale{0};
  std::uint64_t writes{0};
  std::uint64_t lost_updates{0};
  FaultSet drawn{};
  std::array<std::uint64_t, kFaultClasses> breaches{};
  Violations violations{};
  /// With Trace::Keep::events.
  std::vector<Event> trace{};
  std::vector<HostName> hosts{};
};

SeedReport run_seed(std::uint64_t seed, const SeedOptions& options);

}  // namespace holdfast::sim
