#include "recipes/claim_interval.h"

#include <gtest/gtest.h>

#include "recipes/run_here.h"
#include "recipes/scripted_locks_testing.h"

namespace holdfast::recipes {
namespace {

using namespace std::chrono_literals;
using Story = std::vector<std::string>;

class ClaimIntervalTest : public testing::Test {
 protected:
  Result<Claimed<ScriptedLocks>, IntervalError> claim(Millis interval, Millis wait = Millis{0}) {
    IntervalTaking<ScriptedLocks> taking{locks_,
                                         {.interval_lock = "job~interval",
                                          .interval = interval,
                                          .names = {"job"},
                                          .options = {.wait = wait}},
                                         {}};
    return run_here(taking.run());
  }

  ScriptedLocks locks_;
};

TEST_F(ClaimIntervalTest, TheIntervalIsTakenBeforeTheJob) {
  const auto claimed = claim(1s);
  ASSERT_TRUE(claimed);
  EXPECT_EQ(claimed->interval.name, "job~interval");
  EXPECT_EQ(claimed->locks.front().name, "job");
  EXPECT_EQ(locks_.story, (Story{"try job~interval", "try job"}));
}

TEST_F(ClaimIntervalTest, WithoutTheIntervalTheJobIsLeftAlone) {
  locks_.refusals["job~interval"] = {Errc::busy};
  const auto refused = claim(1s);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::busy);
  EXPECT_EQ(locks_.story, (Story{"try job~interval"}));
}

TEST_F(ClaimIntervalTest, AJobThatIsStillRunningGivesTheIntervalBack) {
  locks_.refusals["job"] = {Errc::busy};
  const auto refused = claim(1s);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().due_in, std::nullopt);
  EXPECT_EQ(locks_.story, (Story{"try job~interval", "try job", "give back job~interval"}));
}

TEST_F(ClaimIntervalTest, WhoMayWaitWaitsForTheJobWithoutTheInterval) {
  locks_.refusals["job"] = {Errc::busy};
  EXPECT_TRUE(claim(1s, 1min));
  EXPECT_EQ(locks_.story,
            (Story{"wait job~interval",
                   "try job",
                   "give back job~interval",
                   "wait job",
                   "try job~interval -job"}));
}

TEST_F(ClaimIntervalTest, AnIntervalThatBeganMeanwhileIsWaitedForWithoutTheJob) {
  locks_.refusals["job"] = {Errc::busy};
  locks_.refusals["job~interval"] = {ScriptedLocks::kGranted, Errc::busy};
  EXPECT_TRUE(claim(1s, 1min));
  EXPECT_EQ(locks_.story,
            (Story{"wait job~interval",
                   "try job",
                   "give back job~interval",
                   "wait job",
                   "try job~interval -job",
                   "give back job",
                   "wait job~interval",
                   "try job"}));
}

TEST_F(ClaimIntervalTest, AJobThatRunsForLongerThanOneWaitsIsToldAsATimeout) {
  locks_.refusals["job"] = {Errc::busy, Errc::timeout};
  const auto refused = claim(1s, 1min);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::timeout);
  EXPECT_EQ(refused.error().due_in, std::nullopt);
  EXPECT_EQ(locks_.story.back(), "wait job");
}

TEST_F(ClaimIntervalTest, AnEngineWhoseLeasesAreTooShortIsRefusedWithBothTimes) {
  locks_.granted_ttl = 40s;
  const auto refused = claim(10min);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::unsupported);
  EXPECT_NE(refused.error().message.find("40000 ms"), std::string::npos);
  EXPECT_NE(refused.error().message.find("600000 ms"), std::string::npos);
  EXPECT_EQ(locks_.story, (Story{"try job~interval", "give back job~interval"}));
}

TEST_F(ClaimIntervalTest, AnIntervalThatIsOverBeforeTheRunBeginsIsNotUsed) {
  locks_.lost["job~interval"] = 1;
  const auto refused = claim(1s);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::timeout);
  EXPECT_EQ(locks_.story.back(), "give back job job~interval");
}

}  // namespace
}  // namespace holdfast::recipes
