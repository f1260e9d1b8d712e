// The same seed gives the same world, event for event.

#include <gtest/gtest.h>

#include <set>

#include "sim/swarm.h"

namespace holdfast::sim {
namespace {

TEST(DeterminismTest, TheSameSeedTwiceGivesTheSameTrace) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const SwarmReport first = run_swarm(seed);
    const SwarmReport second = run_swarm(seed);
    EXPECT_EQ(first.trace_hash, second.trace_hash) << "seed " << seed;
    EXPECT_EQ(first.events, second.events) << "seed " << seed;
  }
}

TEST(DeterminismTest, DifferentSeedsGiveDifferentTraces) {
  std::set<std::uint64_t> hashes;
  for (std::uint64_t seed = 0; seed < 50; ++seed) hashes.insert(run_swarm(seed).trace_hash);
  EXPECT_EQ(hashes.size(), 50U);
}

}  // namespace
}  // namespace holdfast::sim
