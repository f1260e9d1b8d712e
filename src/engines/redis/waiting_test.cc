#include "engines/redis/waiting.h"

#include <gtest/gtest.h>

#include "sim/world/sim_env.h"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

class WaiterTest : public testing::Test {
 protected:
  static Asked busy(Contender holder, Standing standing) {
    Asked asked;
    asked.change = holder.ttl;
    asked.holder = std::move(holder);
    asked.standing = standing;
    return asked;
  }
  static Asked granted(std::uint64_t token) {
    Asked asked;
    asked.token = Token{token};
    return asked;
  }

  sim::Scheduler scheduler_;
  sim::SimEnv env_{scheduler_, 1};
  Waiter waiter_{env_, {LockName{"ledger"}, env_.fresh_owner(), 10s}};
  const TimePoint begin_ = env_.now();
};

TEST_F(WaiterTest, AGrantCountsFromTheRequestThatGotIt) {
  waiter_.note(busy({}, Standing::none), begin_ + 3s, begin_ + 4s);
  waiter_.note(granted(7), begin_ + 1s, begin_ + 5s);
  EXPECT_EQ(waiter_.token, Token{7});
  EXPECT_EQ(waiter_.sent_at, begin_ + 1s);
}

TEST_F(WaiterTest, WhatCameFirstStands) {
  waiter_.grant(Token{7}, begin_ + 1s);
  waiter_.grant(Token{6}, begin_ + 2s);
  EXPECT_EQ(waiter_.token, Token{7});
  EXPECT_EQ(waiter_.sent_at, begin_ + 1s);
}

TEST_F(WaiterTest, ARefusalAfterTheGrantDoesNotMakeItLast) {
  waiter_.note(granted(7), begin_ + 1s, begin_ + 2s);
  waiter_.note(busy({}, Standing::first), begin_ + 3s, begin_ + 4s);
  EXPECT_EQ(waiter_.sent_at, begin_ + 1s);
}

TEST_F(WaiterTest, ALockOfOursWithoutAnEndIsLookedAtLikeAForeignOne) {
  waiter_.note(busy({}, Standing::first), begin_, begin_ + 1s);
  EXPECT_EQ(waiter_.ask_at, begin_ + 1250ms);
}

TEST_F(WaiterTest, OnlyTheFirstInLineWatchesTheHolder) {
  Contender holder;
  holder.ttl = 8s;
  waiter_.note(busy(holder, Standing::none), begin_, begin_ + 1s);
  EXPECT_EQ(waiter_.ask_at, TimePoint::max());
  waiter_.note(busy(holder, Standing::first), begin_, begin_ + 1s);
  EXPECT_EQ(waiter_.ask_at, begin_ + 9s + 2ms);
  holder.foreign = true;
  waiter_.note(busy(holder, Standing::first), begin_, begin_ + 1s);
  EXPECT_EQ(waiter_.ask_at, begin_ + 1250ms);
}

TEST_F(WaiterTest, WhoeverHoldsItTogetherIsWatchedForTheFirstChange) {
  Asked shared;
  shared.standing = Standing::first;
  shared.change = 3s;
  waiter_.note(shared, begin_, begin_ + 1s);
  EXPECT_TRUE(waiter_.answered);
  EXPECT_EQ(waiter_.holder, std::nullopt);
  EXPECT_EQ(waiter_.ask_at, begin_ + 4s + 2ms);
}

}  // namespace
}  // namespace holdfast::redis
