// Many small worlds with faults drawn from their seeds. Every failure names its seed.

#include "sim/swarm.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace holdfast::sim {
namespace {

// HOLDFAST_SEEDS asks for a longer campaign.
const std::uint64_t kSeeds = [] {
  const char* asked = std::getenv("HOLDFAST_SEEDS");
  return asked == nullptr ? std::uint64_t{2'000} : std::strtoull(asked, nullptr, 10);
}();

struct Totals {
  std::size_t grants{0};
  std::size_t losses{0};
  std::size_t worlds_with_lost_data{0};
  std::size_t overlaps{0};
};

void add(Totals& totals, const SwarmReport& report) {
  totals.grants += report.grants;
  totals.losses += report.losses;
  totals.worlds_with_lost_data += report.data == Data::lost ? 1 : 0;
  for (const Violation& violation : report.violations) {
    totals.overlaps += violation.checker == "exclusion" ? 1 : 0;
  }
}

TEST(SwarmTest, EveryPromiseHoldsInEveryWorld) {
  Totals totals;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const SwarmReport report = run_swarm(seed);
    add(totals, report);
    for (const Violation& violation : report.violations) {
      ADD_FAILURE() << "seed " << seed << ": " << violation.checker << ": " << violation.what;
    }
  }
  // A swarm in which nothing happens would find nothing.
  EXPECT_GT(totals.grants, kSeeds * 5);
  EXPECT_GT(totals.losses, kSeeds / 2);
  EXPECT_GT(totals.worlds_with_lost_data, kSeeds / 100);
}

// Goal: the allowance for drift is necessary, and the checkers would notice its absence.
// Method: a server clock that runs 5 % fast, beyond the 1 % leases allow for.
TEST(SwarmTest, AServerClockBeyondTheAllowanceMakesHoldersOverlap) {
  Totals totals;
  for (std::uint64_t seed = 1; seed <= kSeeds / 4; ++seed) {
    add(totals, run_swarm(seed, {.clock_rate = ClockRate{50'000}}));
  }
  EXPECT_GT(totals.overlaps, 0U);
}

}  // namespace
}  // namespace holdfast::sim
