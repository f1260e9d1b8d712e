#include "recipes/take_all.h"

#include <gtest/gtest.h>

#include "recipes/run_here.h"
#include "recipes/scripted_locks_testing.h"

namespace holdfast::recipes {
namespace {

using namespace std::chrono_literals;
using Story = std::vector<std::string>;

class TakeAllTest : public testing::Test {
 protected:
  TakenAll<ScriptedLocks> take(std::vector<std::string> names, Millis wait) {
    return run_here(take_all(locks_, std::move(names), {.wait = wait}, {}));
  }

  ScriptedLocks locks_;
};

TEST_F(TakeAllTest, UncontendedItIsOneStep) {
  const auto taken = take({"a", "b", "c"}, kForever);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->size(), 3U);
  EXPECT_EQ(locks_.story, (Story{"try a b c"}));
}

TEST_F(TakeAllTest, OneNameIsWaitedForAtOnce) {
  EXPECT_TRUE(take({"a"}, kForever));
  EXPECT_EQ(locks_.story, (Story{"wait a"}));
}

TEST_F(TakeAllTest, WhatComesAfterTheMissingNameIsGivenBackBeforeItIsWaitedFor) {
  locks_.refusals["b"] = {Errc::busy};
  const auto taken = take({"a", "b", "c", "d"}, kForever);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->back().name, "d");
  EXPECT_EQ(
      locks_.story,
      (Story{"try a b c d", "give back c d", "wait b -a", "wait c -a -b", "wait d -a -b -c"}));
}

TEST_F(TakeAllTest, OneAttemptGivesEverythingBackWhenOneIsBusy) {
  locks_.refusals["b"] = {Errc::busy};
  const auto refused = take({"a", "b", "c"}, 0ms);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::busy);
  EXPECT_EQ(locks_.story, (Story{"try a b c", "give back c", "give back a"}));
}

TEST_F(TakeAllTest, WhoWaitsInVainIsToldOfATimeout) {
  locks_.refusals["b"] = {Errc::busy, Errc::busy};
  const auto refused = take({"a", "b"}, 100ms);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::timeout);
  EXPECT_EQ(locks_.story, (Story{"try a b", "wait b -a", "give back a"}));
}

TEST_F(TakeAllTest, TroubleIsReportedAndNotWaitedOut) {
  locks_.refusals["a"] = {Errc::busy};
  locks_.refusals["c"] = {Errc::unavailable};
  const auto refused = take({"a", "b", "c"}, kForever);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::unavailable);
  EXPECT_EQ(locks_.story, (Story{"try a b c", "give back b"}));
}

TEST_F(TakeAllTest, WhatWasLostMeanwhileIsTakenAnewWithTheRest) {
  locks_.refusals["b"] = {Errc::busy};
  locks_.lost["a"] = 1;
  EXPECT_TRUE(take({"a", "b"}, kForever));
  EXPECT_EQ(locks_.story, (Story{"try a b", "wait b -a", "give back a b", "try a b"}));
}

}  // namespace
}  // namespace holdfast::recipes
