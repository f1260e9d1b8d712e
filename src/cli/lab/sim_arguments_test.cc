// lab sim: a replay command means what it was made from, and the simplest story is told.

#include "cli/lab/sim_arguments.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "cli/lab/progress_bar.h"
#include "cli/lab/sim_report.h"
#include "sim/faults/fault_list.h"
#include "sim/replay.h"

namespace holdfast::cli {
namespace {

Result<SimPlan> plan_of(std::vector<std::string> words) {
  CLI::App command;
  SimArguments arguments;
  add_sim_options(command, arguments);
  std::ranges::reverse(words);
  command.parse(std::move(words));
  return to_plan(arguments);
}

sim::SeedOptions replayed(std::uint64_t seed, const sim::SeedOptions& options) {
  std::vector<std::string> words = sim::replay_words(seed, options);
  words.erase(words.begin(), words.begin() + 2);
  const auto plan = plan_of(std::move(words));
  EXPECT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->campaign.first_seed, seed);
  EXPECT_EQ(plan->campaign.seeds, 1U);
  return plan->campaign.seed;
}

void expect_same(const sim::SeedOptions& left, const sim::SeedOptions& right) {
  EXPECT_EQ(left.protocol, right.protocol);
  EXPECT_EQ(left.mutant, right.mutant);
  EXPECT_EQ(left.nodes, right.nodes);
  EXPECT_EQ(left.clients, right.clients);
  EXPECT_EQ(left.faults, right.faults);
  EXPECT_EQ(left.events, right.events);
  EXPECT_EQ(left.stop_after, right.stop_after);
}

TEST(SimArgumentsTest, AReplayCommandMeansWhatItWasMadeFrom) {
  const sim::SeedOptions plain{.protocol = sim::find_protocol("redlock-plain")};
  expect_same(replayed(3, plain), plain);
  const sim::SeedOptions much{.protocol = sim::find_protocol("redlock"),
                              .mutant = sim::find_mutant("redlock-one-node"),
                              .nodes = 5,
                              .clients = 2,
                              .faults = sim::FaultSet{}.with(sim::FaultClass::one_way),
                              .events = 55,
                              .stop_after = 77};
  expect_same(replayed(0, much), much);
  const sim::SeedOptions calm{.protocol = sim::find_protocol("redis"), .faults = {}};
  expect_same(replayed(9'000'000'000, calm), calm);
}

TEST(SimArgumentsTest, AMutantChoosesItsEngine) {
  const auto plan = plan_of({"--mutant", "release-any"});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->campaign.seed.protocol->name, "redis");
  EXPECT_EQ(plan_of({})->campaign.seed.protocol->name, "redlock");
  const auto wrong = plan_of({"--mutant", "release-any", "--engine", "redlock"});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, Errc::invalid_argument);
}

TEST(SimArgumentsTest, TimeTakesTheLimitOffTheSeedsUnlessBothAreGiven) {
  EXPECT_EQ(plan_of({})->campaign.seeds, 10'000U);
  EXPECT_EQ(plan_of({"--for", "60s"})->limit, std::chrono::seconds{60});
  EXPECT_GT(plan_of({"--for", "60s"})->campaign.seeds, 1'000'000'000U);
  EXPECT_EQ(plan_of({"--for", "60s", "--seeds", "5"})->campaign.seeds, 5U);
}

Finding finding(std::uint64_t seed,
                std::string checker,
                std::string_view faults,
                std::uint64_t stop) {
  Finding result{.seed = seed};
  result.shrunk.options.faults = sim::parse_faults(faults).value();
  result.shrunk.options.stop_after = stop;
  result.shrunk.ending = sim::Ending::prefix;
  result.shrunk.violation.checker = std::move(checker);
  return result;
}

TEST(SimReportTest, TheSimplestStoryIsTold) {
  EXPECT_EQ(simplest({}), nullptr);
  const std::vector<Finding> findings{finding(1, "T1", "loss,pause", 10),
                                      finding(1, "L1", "pause", 700),
                                      finding(2, "T1", "loss", 90),
                                      finding(3, "L1", "pause", 80)};
  EXPECT_EQ(simplest(findings)->seed, 3U);
  const auto each = simplest_of_each(findings);
  ASSERT_EQ(each.size(), 2U);
  EXPECT_EQ(each[0]->seed, 2U);
  EXPECT_EQ(each[1]->seed, 3U);
}

TEST(SimReportTest, NumbersAreGrouped) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1 000");
  EXPECT_EQ(grouped(1'234'567), "1 234 567");
}

TEST(ProgressBarTest, FillsUp) {
  EXPECT_EQ(bar_text(0, 4), "░░░░");
  EXPECT_EQ(bar_text(0.5, 4), "██░░");
  EXPECT_EQ(bar_text(7, 4), "████");
}

}  // namespace
}  // namespace holdfast::cli
