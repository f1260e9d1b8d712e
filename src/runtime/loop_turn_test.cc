#include "runtime/loop_turn.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <future>

namespace holdfast::runtime {
namespace {

using namespace std::chrono_literals;

constexpr auto kBound = 30s;

class Question : public Awaited {
 public:
  void answer() {
    make_known([] {});
  }
};

std::future<bool> keeper_takes(LoopTurn& turn) {
  return std::async(std::launch::async, [&turn] { return turn.take_as_keeper(); });
}

class LoopTurnTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(turn.open()); }

  /// It begins with something to run.
  void let_the_keeper_run() {
    ASSERT_TRUE(turn.take_as_keeper());
    turn.forget_happenings();
    ASSERT_TRUE(turn.leave_as_keeper());
  }

  LoopTurn turn;
};

TEST_F(LoopTurnTest, OnlyOneHasTheTurn) {
  Question first;
  Question second;
  EXPECT_TRUE(turn.take_as_caller(first));
  EXPECT_FALSE(turn.take_as_caller(second));
  second.answer();
  EXPECT_TRUE(turn.leave_as_caller());
  Question third;
  EXPECT_TRUE(turn.take_as_caller(third));
}

TEST_F(LoopTurnTest, WhatWasHandedInMeanwhileIsRunBeforeLeaving) {
  Question question;
  ASSERT_TRUE(turn.take_as_caller(question));
  turn.stir();
  EXPECT_FALSE(turn.leave_as_caller());
  EXPECT_TRUE(turn.leave_as_caller());
}

TEST_F(LoopTurnTest, TheKeeperTakesWhatNobodyWants) {
  EXPECT_TRUE(turn.take_as_keeper());
  EXPECT_FALSE(turn.keeper_may_leave());
}

TEST_F(LoopTurnTest, TheKeeperStaysWhileSomebodyWaits) {
  ASSERT_TRUE(turn.take_as_keeper());
  Question one;
  Question other;
  EXPECT_FALSE(turn.take_as_caller(one));
  EXPECT_FALSE(turn.take_as_caller(other));
  one.answer();
  EXPECT_FALSE(turn.keeper_may_leave());
  other.answer();
  EXPECT_TRUE(turn.keeper_may_leave());
}

TEST_F(LoopTurnTest, OneWhoGivesUpIsNotWaitedFor) {
  ASSERT_TRUE(turn.take_as_keeper());
  Question question;
  ASSERT_FALSE(turn.take_as_caller(question));
  question.count_out();
  EXPECT_TRUE(turn.keeper_may_leave());
}

TEST_F(LoopTurnTest, TheKeeperComesWhenACallerLeavesOthersWaiting) {
  Question caller;
  Question one;
  Question other;
  ASSERT_TRUE(turn.take_as_caller(caller));
  ASSERT_FALSE(turn.take_as_caller(one));
  ASSERT_FALSE(turn.take_as_caller(other));
  auto keeper = keeper_takes(turn);
  ASSERT_TRUE(turn.leave_as_caller());
  ASSERT_EQ(keeper.wait_for(kBound), std::future_status::ready);
  EXPECT_TRUE(keeper.get());
  one.answer();
  other.answer();
}

TEST_F(LoopTurnTest, WhoWaitsAloneGetsTheTurnOfTheKeeper) {
  ASSERT_TRUE(turn.take_as_keeper());
  EXPECT_FALSE(turn.give_to_caller()) << "nobody waits";
  Question question;
  ASSERT_FALSE(turn.take_as_caller(question));
  ASSERT_TRUE(turn.give_to_caller());
  EXPECT_FALSE(question.sleep_until(TimePoint::max())) << "awake without an answer";
  EXPECT_TRUE(turn.stop_waiting(question));
  EXPECT_TRUE(turn.caller_is_alone());
  Question next;
  EXPECT_FALSE(turn.take_as_caller(next)) << "the turn is taken";
  next.answer();
  EXPECT_FALSE(turn.stop_waiting(next));
  EXPECT_TRUE(turn.leave_as_caller());
  EXPECT_TRUE(turn.take_as_caller(next));
}

TEST_F(LoopTurnTest, WhoWaitsAloneGetsTheTurnOfACaller) {
  Question caller;
  Question waiting;
  ASSERT_TRUE(turn.take_as_caller(caller));
  ASSERT_FALSE(turn.take_as_caller(waiting));
  ASSERT_TRUE(turn.leave_as_caller());
  EXPECT_FALSE(waiting.sleep_until(TimePoint::max()));
  EXPECT_TRUE(turn.stop_waiting(waiting));
}

TEST_F(LoopTurnTest, TheKeeperServesSeveralWhoWait) {
  ASSERT_TRUE(turn.take_as_keeper());
  Question one;
  Question other;
  ASSERT_FALSE(turn.take_as_caller(one));
  ASSERT_FALSE(turn.take_as_caller(other));
  EXPECT_FALSE(turn.give_to_caller());
  one.answer();
  other.answer();
  EXPECT_FALSE(turn.give_to_caller()) << "nobody waits any more";
  EXPECT_FALSE(turn.stop_waiting(one));
  EXPECT_FALSE(turn.stop_waiting(other));
}

TEST_F(LoopTurnTest, WhoGaveUpBeforeItWasRousedHasTheTurnAllTheSame) {
  ASSERT_TRUE(turn.take_as_keeper());
  Question question;
  ASSERT_FALSE(turn.take_as_caller(question));
  EXPECT_FALSE(question.sleep_until(TimePoint{}));
  ASSERT_TRUE(turn.give_to_caller());
  EXPECT_TRUE(turn.stop_waiting(question));
  EXPECT_TRUE(turn.leave_as_caller());
}

TEST_F(LoopTurnTest, TheKeeperComesByItselfAfterAMoment) {
  Question caller;
  ASSERT_TRUE(turn.take_as_caller(caller));
  auto keeper = keeper_takes(turn);
  // Long enough for the keeper to sleep until it is woken.
  EXPECT_EQ(keeper.wait_for(20 * LoopTurn::kLeave), std::future_status::timeout);
  ASSERT_TRUE(turn.leave_as_caller());
  ASSERT_EQ(keeper.wait_for(kBound), std::future_status::ready);
  EXPECT_TRUE(keeper.get());
}

TEST_F(LoopTurnTest, AKeeperWithNothingToRunSleepsUntilSomethingHappens) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  turn.watch(ends[0]);
  let_the_keeper_run();
  auto keeper = keeper_takes(turn);
  EXPECT_EQ(keeper.wait_for(20 * LoopTurn::kLeave), std::future_status::timeout);
  ASSERT_EQ(write(ends[1], "x", 1), 1);
  ASSERT_EQ(keeper.wait_for(kBound), std::future_status::ready);
  EXPECT_TRUE(keeper.get());
  for (const int end : ends) close(end);
}

TEST_F(LoopTurnTest, AKeeperWithNothingToRunComesWhenWorkIsHandedIn) {
  let_the_keeper_run();
  auto keeper = keeper_takes(turn);
  EXPECT_EQ(keeper.wait_for(20 * LoopTurn::kLeave), std::future_status::timeout);
  turn.stir();
  ASSERT_EQ(keeper.wait_for(kBound), std::future_status::ready);
  EXPECT_TRUE(keeper.get());
}

TEST_F(LoopTurnTest, ACallerTakesTheTurnFromAKeeperThatSleeps) {
  let_the_keeper_run();
  auto keeper = keeper_takes(turn);
  EXPECT_EQ(keeper.wait_for(20 * LoopTurn::kLeave), std::future_status::timeout);
  Question caller;
  ASSERT_TRUE(turn.take_as_caller(caller));
  EXPECT_TRUE(turn.caller_is_alone());
  ASSERT_TRUE(turn.leave_as_caller());
  // What the caller has left unrun is looked at by the keeper.
  ASSERT_EQ(keeper.wait_for(kBound), std::future_status::ready);
  EXPECT_TRUE(keeper.get());
}

TEST_F(LoopTurnTest, WhatHappensInACallersTurnDoesNotWakeTheKeeper) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  turn.watch(ends[0]);
  let_the_keeper_run();
  auto keeper = keeper_takes(turn);
  EXPECT_EQ(keeper.wait_for(20 * LoopTurn::kLeave), std::future_status::timeout);
  Question caller;
  ASSERT_TRUE(turn.take_as_caller(caller));
  ASSERT_EQ(write(ends[1], "x", 1), 1);
  EXPECT_EQ(keeper.wait_for(20 * LoopTurn::kLeave), std::future_status::timeout);
  ASSERT_TRUE(turn.leave_as_caller());
  ASSERT_EQ(keeper.wait_for(kBound), std::future_status::ready);
  EXPECT_TRUE(keeper.get());
  for (const int end : ends) close(end);
}

TEST_F(LoopTurnTest, TheKeeperStaysWhileSomethingIsUnderWayThatNothingTellsOf) {
  ASSERT_TRUE(turn.take_as_keeper());
  turn.begin_unwatched();
  EXPECT_TRUE(turn.keeper_must_stay());
  ASSERT_TRUE(turn.leave_as_keeper());
  ASSERT_TRUE(turn.take_as_keeper());
  turn.end_unwatched();
  EXPECT_FALSE(turn.keeper_must_stay());
}

TEST_F(LoopTurnTest, AKeeperThatSleepsLearnsThatItIsOver) {
  let_the_keeper_run();
  auto keeper = keeper_takes(turn);
  EXPECT_EQ(keeper.wait_for(20 * LoopTurn::kLeave), std::future_status::timeout);
  turn.end();
  ASSERT_EQ(keeper.wait_for(kBound), std::future_status::ready);
  EXPECT_FALSE(keeper.get());
}

TEST_F(LoopTurnTest, TheKeeperLearnsThatItIsOver) {
  Question caller;
  ASSERT_TRUE(turn.take_as_caller(caller));
  auto keeper = keeper_takes(turn);
  turn.end();
  ASSERT_EQ(keeper.wait_for(kBound), std::future_status::ready);
  EXPECT_FALSE(keeper.get());
}

}  // namespace
}  // namespace holdfast::runtime
