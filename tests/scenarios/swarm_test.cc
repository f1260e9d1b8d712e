// Many small worlds with faults drawn from their seeds. Every failure names its seed.
//
// Ten seconds of seeds for each protocol, and more on a machine that is so slow that a fault has
// not shown what it can do by then. HOLDFAST_SEEDS asks for so many instead.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>

#include "sim/campaign.h"

namespace holdfast::sim {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr std::size_t kFailuresKept = 10;

// A fault that did not show in so many will not.
constexpr std::uint64_t kSeedsMost = 20'000;

/// Whether faults of this kind are to make two holders overlap.
bool breaks_exclusion(const Protocol& protocol, FaultClass kind) {
  // Where it takes more than one node to go wrong, lost data rarely shows within a minute.
  const bool rare = protocol.nodes > 1 && kind <= FaultClass::promotion;
  return may_break_exclusion(kind) && protocol.faults.has(kind) && !rare;
}

bool shown(const Protocol& protocol, const Tally& totals) {
  for (std::size_t i = 0; i < kFaultClasses; ++i) {
    const bool breaks = breaks_exclusion(protocol, static_cast<FaultClass>(i));
    if (breaks && totals.breaches[i] == 0) return false;
  }
  return true;
}

bool enough(const Protocol& protocol, const Tally& totals, Clock::time_point end) {
  static const char* const asked = std::getenv("HOLDFAST_SEEDS");
  if (asked != nullptr) return totals.seeds >= std::strtoull(asked, nullptr, 10);
  if (Clock::now() < end) return false;
  return shown(protocol, totals) || totals.seeds >= kSeedsMost;
}

void describe(const Protocol& protocol, const Tally& totals) {
  std::cout << protocol.name << ": " << totals.seeds << " seeds, " << totals.events << " events, "
            << totals.grants << " grants, " << totals.losses << " losses, " << totals.refused_stale
            << " stale operations refused, " << totals.lost_updates << " updates lost in "
            << totals.losing_seeds << " seeds; two holders";
  for (std::size_t i = 0; i < kFaultClasses; ++i) {
    if (totals.breaches[i] > 0) std::cout << ", " << kFaultNames[i] << ' ' << totals.breaches[i];
  }
  std::cout << '\n';
}

class SwarmTest : public testing::TestWithParam<Protocol> {};

TEST_P(SwarmTest, EveryPromiseHoldsInEveryWorld) {
  const Protocol& protocol = GetParam();
  const SeedOptions options{.protocol = find_protocol(protocol.name)};
  const Clock::time_point end = Clock::now() + 10s;
  Tally totals;
  for (std::uint64_t seed = 0; !enough(protocol, totals, end); ++seed) {
    const SeedReport report = run_seed(seed, options);
    totals.add(report, kFailuresKept);
    for (const Violation& violation : report.violations) {
      ADD_FAILURE() << "./holdfast lab sim --engine " << protocol.name << " --seed " << seed << ": "
                    << violation.checker << ": " << violation.what;
    }
    if (HasFailure()) break;
  }
  describe(protocol, totals);

  // A swarm in which nothing happens would find nothing.
  EXPECT_GT(totals.grants, totals.seeds * 5);
  EXPECT_GT(totals.losses, totals.seeds / 4);
  const bool fenced = protocol.resource == Register::fenced;
  EXPECT_EQ(totals.refused_stale > 0, fenced) << "late holders are stopped by the fence";
  EXPECT_EQ(totals.lost_updates > 0, !fenced) << "and by nothing else";
  for (std::size_t i = 0; i < kFaultClasses; ++i) {
    const bool borne = protocol.faults.has(static_cast<FaultClass>(i));
    EXPECT_EQ(totals.drawn[i] > 0, borne) << kFaultNames[i];
  }
  for (std::size_t i = 0; i < kFaultClasses; ++i) {
    if (!breaks_exclusion(protocol, static_cast<FaultClass>(i))) continue;
    EXPECT_GT(totals.breaches[i], 0U) << kFaultNames[i] << " made no two holders overlap";
  }
}

INSTANTIATE_TEST_SUITE_P(Protocol,
                         SwarmTest,
                         testing::ValuesIn(protocols().begin(), protocols().end()),
                         [](const auto& param) {
                           std::string name{param.param.name};
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace holdfast::sim
