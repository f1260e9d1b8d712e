// Campaigns: the sum of many seeds does not depend on who ran them.

#include "sim/campaign.h"

#include <gtest/gtest.h>

#include <atomic>

namespace holdfast::sim {
namespace {

// A world without a world: every seventh seed fails, every fifth loses an update.
SeedReport made_up(std::uint64_t seed, const SeedOptions&) {
  SeedReport report{.seed = seed, .trace_hash = seed * 31, .events = 10, .grants = 2, .writes = 3};
  report.drawn = FaultSet{}.with(seed % 2 == 0 ? FaultClass::loss : FaultClass::pause);
  report.breaches[static_cast<std::size_t>(FaultClass::clock_step)] = seed % 3;
  if (seed % 5 == 0) report.lost_updates = 2;
  if (seed % 7 == 0) {
    report.violations = {{"T1", "first of " + std::to_string(seed)}, {"T1", "again"}, {"L2", "x"}};
  }
  return report;
}

CampaignOptions options(std::uint64_t seeds, std::size_t jobs) {
  return {.first_seed = 1, .seeds = seeds, .jobs = jobs, .run = made_up};
}

TEST(CampaignTest, AddsUpItsSeeds) {
  const Tally tally = run_campaign(options(100, 1));
  EXPECT_EQ(tally.seeds, 100U);
  EXPECT_EQ(tally.events, 1000U);
  EXPECT_EQ(tally.grants, 200U);
  EXPECT_EQ(tally.writes, 300U);
  EXPECT_EQ(tally.lost_updates, 40U);
  EXPECT_EQ(tally.losing_seeds, 20U);
  EXPECT_EQ(tally.failing_seeds, 14U);
  EXPECT_EQ(tally.drawn[static_cast<std::size_t>(FaultClass::pause)], 50U);
  EXPECT_EQ(tally.breaches[static_cast<std::size_t>(FaultClass::clock_step)], 100U);
}

TEST(CampaignTest, KeepsTheFirstFailuresBySeedAndOnePerChecker) {
  CampaignOptions some = options(100, 3);
  some.failures_max = 5;
  const Tally tally = run_campaign(some);
  ASSERT_EQ(tally.failures.size(), 5U);
  EXPECT_EQ(tally.failures[0].seed, 7U);
  EXPECT_EQ(tally.failures[0].violation.what, "first of 7");
  EXPECT_EQ(tally.failures[1].seed, 7U);
  EXPECT_EQ(tally.failures[1].violation.checker, "L2");
  EXPECT_EQ(tally.failures[4].seed, 21U);
}

TEST(CampaignTest, TheNumberOfThreadsDoesNotMatter) {
  const Tally alone = run_campaign(options(1000, 1));
  for (const std::size_t jobs : {2U, 5U, 0U}) {
    const Tally together = run_campaign(options(1000, jobs));
    EXPECT_EQ(together.trace_hash, alone.trace_hash);
    EXPECT_EQ(together.events, alone.events);
    EXPECT_EQ(together.breaches, alone.breaches);
    EXPECT_EQ(together.repeated, alone.repeated);
    ASSERT_EQ(together.failures.size(), alone.failures.size());
    for (std::size_t i = 0; i < alone.failures.size(); ++i) {
      EXPECT_EQ(together.failures[i].seed, alone.failures[i].seed);
    }
  }
}

TEST(CampaignTest, TheHashTellsSeedsAndRunsApart) {
  const std::uint64_t hash = run_campaign(options(50, 1)).trace_hash;
  EXPECT_NE(hash, run_campaign(options(51, 1)).trace_hash);
  CampaignOptions other = options(50, 1);
  other.run = [](std::uint64_t seed, const SeedOptions& given) {
    SeedReport report = made_up(seed, given);
    if (seed == 20) ++report.trace_hash;
    return report;
  };
  EXPECT_NE(hash, run_campaign(other).trace_hash);
  // The traces of two seeds, exchanged.
  other.run = [](std::uint64_t seed, const SeedOptions& given) {
    SeedReport report = made_up(seed, given);
    if (seed == 20 || seed == 21) report.trace_hash = (41 - seed) * 31;
    return report;
  };
  EXPECT_NE(hash, run_campaign(other).trace_hash);
}

TEST(CampaignTest, ASampleRunsTwiceAndMustComeOutTheSame) {
  std::atomic<std::uint64_t> runs{0};
  CampaignOptions moody = options(600, 2);
  moody.run = [&runs](std::uint64_t seed, const SeedOptions&) {
    SeedReport report{.seed = seed};
    report.trace_hash = ++runs;
    return report;
  };
  const Tally tally = run_campaign(moody);
  EXPECT_EQ(runs, 603U);
  EXPECT_EQ(tally.repeated, 3U);
  ASSERT_EQ(tally.failures.size(), 3U);
  EXPECT_EQ(tally.failures[0].violation.checker, kDeterminism);
  EXPECT_EQ(tally.failures[0].seed, 1U);
  EXPECT_EQ(tally.failures[1].seed, 257U);
}

TEST(CampaignTest, StoppedItReportsTheSeedsBeforeTheFirstThatWasNotRun) {
  std::stop_source source;
  CampaignOptions stopped = options(100'000, 2);
  stopped.stop = source.get_token();
  stopped.progress = [&](const Tally& so_far) {
    if (so_far.seeds >= 100) source.request_stop();
  };
  const Tally tally = run_campaign(stopped);
  EXPECT_GE(tally.seeds, 100U);
  ASSERT_LT(tally.seeds, 100'000U);
  EXPECT_EQ(tally.trace_hash, run_campaign(options(tally.seeds, 1)).trace_hash);
}

TEST(CampaignTest, NoSeedsAreNothing) {
  const Tally tally = run_campaign(options(0, 2));
  EXPECT_EQ(tally.seeds, 0U);
  EXPECT_EQ(tally.trace_hash, 0U);
}

TEST(CampaignTest, RealWorldsAddUpTheSameOnTwoThreads) {
  CampaignOptions real{.seed = {.protocol = find_protocol("redlock")}, .seeds = 40, .jobs = 1};
  const Tally alone = run_campaign(real);
  real.jobs = 2;
  const Tally together = run_campaign(real);
  EXPECT_EQ(alone.trace_hash, together.trace_hash);
  EXPECT_EQ(alone.grants, together.grants);
  EXPECT_GT(alone.grants, 0U);
}

}  // namespace
}  // namespace holdfast::sim
