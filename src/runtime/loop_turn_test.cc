#include "runtime/loop_turn.h"

#include <gtest/gtest.h>

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

TEST(LoopTurnTest, OnlyOneHasTheTurn) {
  LoopTurn turn;
  Question first;
  Question second;
  EXPECT_TRUE(turn.take_as_caller(first));
  EXPECT_FALSE(turn.take_as_caller(second));
  second.answer();
  EXPECT_TRUE(turn.leave());
  Question third;
  EXPECT_TRUE(turn.take_as_caller(third));
}

TEST(LoopTurnTest, WhatWasHandedInMeanwhileIsRunBeforeLeaving) {
  LoopTurn turn;
  Question question;
  ASSERT_TRUE(turn.take_as_caller(question));
  turn.stir();
  EXPECT_FALSE(turn.leave());
  EXPECT_TRUE(turn.leave());
}

TEST(LoopTurnTest, TheKeeperTakesWhatNobodyWants) {
  LoopTurn turn;
  EXPECT_TRUE(turn.take_as_keeper());
  EXPECT_FALSE(turn.keeper_may_leave());
}

TEST(LoopTurnTest, TheKeeperStaysWhileSomebodyWaits) {
  LoopTurn turn;
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

TEST(LoopTurnTest, OneWhoGivesUpIsNotWaitedFor) {
  LoopTurn turn;
  ASSERT_TRUE(turn.take_as_keeper());
  Question question;
  ASSERT_FALSE(turn.take_as_caller(question));
  question.count_out();
  EXPECT_TRUE(turn.keeper_may_leave());
}

TEST(LoopTurnTest, TheKeeperComesWhenACallerLeavesOthersWaiting) {
  LoopTurn turn;
  Question caller;
  Question waiting;
  ASSERT_TRUE(turn.take_as_caller(caller));
  ASSERT_FALSE(turn.take_as_caller(waiting));
  auto keeper = keeper_takes(turn);
  ASSERT_TRUE(turn.leave());
  ASSERT_EQ(keeper.wait_for(kBound), std::future_status::ready);
  EXPECT_TRUE(keeper.get());
  waiting.answer();
}

TEST(LoopTurnTest, TheKeeperComesByItselfAfterAMoment) {
  LoopTurn turn;
  Question caller;
  ASSERT_TRUE(turn.take_as_caller(caller));
  auto keeper = keeper_takes(turn);
  // Long enough for the keeper to sleep until it is woken.
  EXPECT_EQ(keeper.wait_for(20 * LoopTurn::kLeave), std::future_status::timeout);
  ASSERT_TRUE(turn.leave());
  ASSERT_EQ(keeper.wait_for(kBound), std::future_status::ready);
  EXPECT_TRUE(keeper.get());
}

TEST(LoopTurnTest, TheKeeperLearnsThatItIsOver) {
  LoopTurn turn;
  Question caller;
  ASSERT_TRUE(turn.take_as_caller(caller));
  auto keeper = keeper_takes(turn);
  turn.end();
  ASSERT_EQ(keeper.wait_for(kBound), std::future_status::ready);
  EXPECT_FALSE(keeper.get());
}

}  // namespace
}  // namespace holdfast::runtime
