// Kill -9 of random nodes, again and again, while clients see majorities that share one node only.

#include "tests/redlock/campaign.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <iostream>
#include <random>

namespace holdfast::redlock {
namespace {

using namespace std::chrono_literals;

std::chrono::seconds duration() {
  const char* const given = std::getenv("HOLDFAST_CAMPAIGN_SECONDS");
  return std::chrono::seconds{given == nullptr ? 12 : std::atoi(given)};
}

bool eventually(const std::function<bool()>& condition) {
  const TimePoint limit = BootClock::now() + 30s;
  while (!condition()) {
    if (BootClock::now() > limit) return false;
    let_pass(1ms);
  }
  return true;
}

TEST(RedlockCampaignTest, JudgesWhatIsWrong) {
  const TimePoint zero{};
  const std::vector<Held> leases{
      {"x", Token{5}, zero + 1ms, zero + 2ms, zero + 9ms},
      {"x", Token{5}, zero + 3ms, zero + 4ms, zero + 5ms},
      {"x", Token{3}, zero + 10ms, zero + 11ms, zero + 12ms},
      {"y", Token{1}, zero + 10ms, zero + 11ms, zero + 12ms},
  };
  const Findings findings = judge(leases);
  EXPECT_EQ(findings.duplicates, 1U);
  EXPECT_EQ(findings.inversions, 1U);
  EXPECT_EQ(findings.overlaps, 1U);
}

TEST(RedlockCampaignTest, NodesThatKeepTheirDataMayBeKilled) {
  Campaign campaign{Persistence::always};
  std::mt19937_64 dice{20260801};
  campaign.start();
  const TimePoint end = BootClock::now() + duration();
  while (BootClock::now() < end) {
    let_pass(Millis{1000 + dice() % 1000});
    campaign.kill(dice() % 3);
  }
  const std::size_t before = campaign.granted();
  EXPECT_TRUE(eventually([&] { return campaign.granted() > before + 10; }))
      << "locks are given when the nodes are back";
  campaign.stop();
  const Findings findings = judge(campaign.leases());
  std::cout << campaign.leases().size() << " leases, " << campaign.kills() << " kills, "
            << findings.duplicates << " duplicate tokens, " << findings.inversions
            << " inversions, " << findings.overlaps << " overlaps\n";
  EXPECT_EQ(findings.duplicates, 0U);
  EXPECT_EQ(findings.inversions, 0U);
  EXPECT_EQ(findings.overlaps, 0U);
}

TEST(RedlockCampaignTest, NodesThatLostTheirDataRefuseInsteadOfCountingAnew) {
  Campaign campaign{Persistence::none};
  campaign.start();
  ASSERT_TRUE(eventually([&] { return campaign.granted() > 20; }));
  // The node that all majorities share.
  campaign.kill(1);
  for (const std::size_t half : {0U, 1U}) {
    EXPECT_TRUE(eventually([&] {
      const auto client = Client::connect(campaign.half(half) + "?timeout=300ms");
      if (client) return false;
      const Error& error = client.error();
      return error.code == Errc::unavailable && error.nodes.size() == 3 &&
             error.nodes[1].message.find("lost its data") != std::string::npos;
    })) << half;
  }
  const std::size_t before = campaign.granted();
  let_pass(2s);
  EXPECT_LE(campaign.granted(), before + 2) << "what was granted before is written down late";
  campaign.stop();
  const Findings findings = judge(campaign.leases());
  EXPECT_EQ(findings.duplicates, 0U);
  EXPECT_EQ(findings.inversions, 0U);
}

}  // namespace
}  // namespace holdfast::redlock
