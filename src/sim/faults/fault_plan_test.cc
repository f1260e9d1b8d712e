#include "sim/faults/fault_plan.h"

#include <gtest/gtest.h>

#include "core/validity.h"

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kSeeds = 2'000;
constexpr Cast kCast{.nodes = 3, .clients = 4};

FaultPlan plan_of(std::uint64_t seed, FaultSet allowed = FaultSet::all()) {
  return draw_plan(seed, allowed, 10s, kCast);
}

TEST(FaultPlanTest, EveryClassIsDrawnAndNoneAlways) {
  for (std::size_t i = 0; i < kFaultClasses; ++i) {
    const auto kind = static_cast<FaultClass>(i);
    std::uint64_t with = 0;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) with += plan_of(seed).classes.has(kind);
    EXPECT_GT(with, kSeeds / 20) << to_string(kind);
    EXPECT_LT(with, kSeeds / 2) << to_string(kind);
  }
}

TEST(FaultPlanTest, LeavingAClassOutLeavesTheOthersAsTheyWere) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const FaultPlan all = plan_of(seed);
    const FaultPlan fewer = plan_of(seed, FaultSet::all().without(FaultClass::delay));
    EXPECT_EQ(fewer.classes, all.classes.without(FaultClass::delay));
    EXPECT_EQ(fewer.network.slow.value, 0U);
    EXPECT_EQ(fewer.network.lose_request.value, all.network.lose_request.value);
    EXPECT_EQ(fewer.pause.value, all.pause.value);
    EXPECT_EQ(fewer.node_rates[2].ppm, all.node_rates[2].ppm);
  }
}

// Goal: whether a seed has a class does not say how bad it is.
TEST(FaultPlanTest, FaultsAreMildInSomeSeedsAndBadInOthers) {
  std::uint64_t fast = 0;
  std::uint64_t slow = 0;
  std::uint32_t worst_loss = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const FaultPlan plan = plan_of(seed);
    worst_loss = std::max(worst_loss, plan.network.lose_request.value);
    if (!plan.classes.has(FaultClass::clock_drift)) continue;
    fast += plan.node_rates[0].ppm > kAllowedPpm ? 1 : 0;
    slow += plan.node_rates[0].ppm < -kAllowedPpm ? 1 : 0;
  }
  EXPECT_GT(worst_loss, 180U);
  EXPECT_GT(fast, slow / 2);
  EXPECT_GT(slow, fast / 2);
}

// Goal: without a drift in the plan, no two clocks disagree by more than leases allow for.
TEST(FaultPlanTest, ClocksWithoutAFaultStayWithinTheAllowance) {
  const FaultSet tame =
      FaultSet::all().without(FaultClass::clock_drift).without(FaultClass::client_drift);
  const Duration ttl = 10s;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const FaultPlan plan = plan_of(seed, tame);
    for (const ClockRate node : plan.node_rates) {
      for (const ClockRate client : plan.client_rates) {
        const Duration apart = ttl / 1'000'000 * (node.ppm - client.ppm);
        EXPECT_LE(apart, core::drift_allowance(ttl));
      }
    }
  }
}

TEST(FaultPlanTest, ClocksDoNotGoBackWhereDataIsLost) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const FaultPlan plan = plan_of(seed);
    const bool loses =
        plan.classes.has(FaultClass::data_loss) || plan.classes.has(FaultClass::promotion);
    EXPECT_EQ(plan.clocks_go_back, !loses);
  }
}

}  // namespace
}  // namespace holdfast::sim
