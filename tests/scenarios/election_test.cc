// Elections in worlds with faults drawn from their seeds: two leaders never both act at the
// resource, and whoever is left alive leads in the end.
//
// HOLDFAST_ELECTION_SEEDS asks for so many seeds of each protocol; ./test soak runs 100 000 with a
// fence, and as many without.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>

#include "sim/campaign.h"

namespace holdfast::sim {
namespace {

constexpr std::uint64_t kSeeds = 150;

std::uint64_t seeds_asked_for() {
  const char* const asked = std::getenv("HOLDFAST_ELECTION_SEEDS");
  return asked == nullptr ? kSeeds : std::strtoull(asked, nullptr, 10);
}

Tally elections(const Protocol& protocol, std::uint64_t seeds) {
  CampaignOptions options;
  options.seed.protocol = &protocol;
  options.seed.work = Work::election;
  options.seeds = seeds;
  return run_campaign(options);
}

class ElectionTest : public testing::TestWithParam<Protocol> {};

TEST_P(ElectionTest, TwoLeadersNeverBothActAtTheFencedRegister) {
  const Protocol& protocol = GetParam();
  const Tally tally = elections(protocol, seeds_asked_for());
  for (const Failure& failure : tally.failures) {
    ADD_FAILURE() << protocol.name << " seed " << failure.seed << ": " << failure.violation.checker
                  << ": " << failure.violation.what;
  }
  std::cout << protocol.name << ": " << tally.seeds << " seeds, " << tally.grants << " terms, "
            << tally.losses << " lost, " << tally.writes << " acts, " << tally.refused_stale
            << " acts of former leaders refused, " << tally.lost_updates << " acts undone\n";

  // An election in which nothing happens would show nothing.
  EXPECT_GT(tally.grants, tally.seeds * 5);
  EXPECT_GT(tally.writes, tally.seeds * 10);
  EXPECT_GT(tally.losses, 0U);
  // What it is the fence that prevents, and nothing else, shows where there is none.
  const bool fenced = protocol.resource == Register::fenced;
  EXPECT_EQ(tally.refused_stale > 0, fenced);
  EXPECT_EQ(tally.lost_updates > 0, !fenced);
}

INSTANTIATE_TEST_SUITE_P(Protocol,
                         ElectionTest,
                         testing::ValuesIn(protocols().begin(), protocols().end()),
                         [](const auto& param) {
                           std::string name{param.param.name};
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace holdfast::sim
