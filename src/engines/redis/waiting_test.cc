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

TEST_F(WaiterTest, WhoIsToldToWaitHasMetOthers) {
  EXPECT_EQ(waiter_.met, core::Met::nobody);
  note(waiter_, busy({}, core::Standing::none), begin_, begin_);
  note(waiter_, granted(7), begin_ + 1s, begin_ + 2s);
  EXPECT_EQ(waiter_.met, core::Met::others);
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

/// Keeps what is sent, to be answered later.
class PatientPort final : public RedisPort {
 public:
  void send(SharedCall, TimePoint, OnAnswer on_answer) override {
    sent.push_back(std::move(on_answer));
  }
  void subscribe(std::string, OnHeard) override {}
  void unsubscribe(const std::string&) override {}

  std::vector<OnAnswer> sent;
};

class StrayTest : public WaiterTest {
 protected:
  /// A refresh is answered by a grant to one that has left.
  void grant_to_the_gone() {
    const auto waiter = std::make_shared<core::Waiter>(
        env_, core::LockRequest{LockName{"ledger"}, env_.fresh_owner(), 9s});
    waiting_->enter(waiter);
    scheduler_.advance(4s);
    ASSERT_EQ(port_->sent.size(), 1u);
    waiting_->leave(*waiter);
    if (orphaned_) waiting_->orphan();
    const Reply grant = Reply::of_array({Reply::of_integer(1), Reply::of_text("7")});
    port_->sent.front()(Reply::of_array({grant}));
  }

  bool orphaned_{false};
  int strays_{0};
  std::shared_ptr<PatientPort> port_{std::make_shared<PatientPort>()};
  std::shared_ptr<Waiting> waiting_{std::make_shared<Waiting>(
      env_, port_, Keys{"hf:"}, Waiting::Settings{1s, [this](const auto&) { ++strays_; }})};
};

TEST_F(StrayTest, AGrantToOneThatHasLeftIsGivenBack) {
  grant_to_the_gone();
  EXPECT_EQ(strays_, 1);
}

TEST_F(StrayTest, NobodyIsLeftToGiveItBackOnceTheEngineIsGone) {
  orphaned_ = true;
  grant_to_the_gone();
  EXPECT_EQ(strays_, 0);
}

}  // namespace
}  // namespace holdfast::redis
