#include "engines/redis/waiting.h"

#include <gtest/gtest.h>

#include "sim/world/sim_env.h"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

class WaiterTest : public testing::Test {
 protected:
  static core::Asked busy(Contender holder, core::Standing standing) {
    core::Asked asked;
    asked.change = holder.ttl;
    asked.holder = std::move(holder);
    asked.standing = standing;
    return asked;
  }
  static core::Asked granted(std::uint64_t token) {
    core::Asked asked;
    asked.token = Token{token};
    return asked;
  }

  sim::Scheduler scheduler_;
  sim::SimEnv env_{scheduler_, 1};
  core::Waiter waiter_{env_, {LockName{"ledger"}, env_.fresh_owner(), 10s}};
  const TimePoint begin_ = env_.now();
};

TEST_F(WaiterTest, AGrantCountsFromTheRequestThatGotIt) {
  note(waiter_, busy({}, core::Standing::none), begin_ + 3s, begin_ + 4s);
  note(waiter_, granted(7), begin_ + 1s, begin_ + 5s);
  EXPECT_EQ(waiter_.token, Token{7});
  EXPECT_EQ(waiter_.granted_by.sent_at, begin_ + 1s);
}

TEST_F(WaiterTest, WhatCameFirstStands) {
  waiter_.grant(Token{7}, begin_ + 1s);
  waiter_.grant(Token{6}, begin_ + 2s);
  EXPECT_EQ(waiter_.token, Token{7});
  EXPECT_EQ(waiter_.granted_by.sent_at, begin_ + 1s);
}

TEST_F(WaiterTest, ARefusalAfterTheGrantDoesNotMakeItLast) {
  note(waiter_, granted(7), begin_ + 1s, begin_ + 2s);
  note(waiter_, busy({}, core::Standing::first), begin_ + 3s, begin_ + 4s);
  EXPECT_EQ(waiter_.granted_by.sent_at, begin_ + 1s);
}

TEST_F(WaiterTest, ALockOfOursWithoutAnEndIsLookedAtLikeAForeignOne) {
  note(waiter_, busy({}, core::Standing::first), begin_, begin_ + 1s);
  EXPECT_EQ(waiter_.ask_at, begin_ + 1250ms);
}

TEST_F(WaiterTest, OnlyTheFirstInLineWatchesTheHolder) {
  Contender holder;
  holder.ttl = 8s;
  note(waiter_, busy(holder, core::Standing::none), begin_, begin_ + 1s);
  EXPECT_EQ(waiter_.ask_at, TimePoint::max());
  note(waiter_, busy(holder, core::Standing::first), begin_, begin_ + 1s);
  EXPECT_EQ(waiter_.ask_at, begin_ + 9s + 2ms);
  holder.foreign = true;
  note(waiter_, busy(holder, core::Standing::first), begin_, begin_ + 1s);
  EXPECT_EQ(waiter_.ask_at, begin_ + 1250ms);
}

TEST_F(WaiterTest, WhoeverHoldsItTogetherIsWatchedForTheFirstChange) {
  core::Asked shared;
  shared.standing = core::Standing::first;
  shared.change = 3s;
  note(waiter_, shared, begin_, begin_ + 1s);
  EXPECT_TRUE(waiter_.answered);
  EXPECT_EQ(waiter_.holder, std::nullopt);
  EXPECT_EQ(waiter_.ask_at, begin_ + 4s + 2ms);
}

}  // namespace
}  // namespace holdfast::redis
