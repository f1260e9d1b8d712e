#include "engines/etcd/attentive_port.h"

#include <gtest/gtest.h>

#include <deque>

#include "sim/world/sim_env.h"

namespace holdfast::etcd {
namespace {

using namespace std::chrono_literals;

/// Keeps what is asked until the test answers it.
class AskedPort final : public EtcdPort {
 public:
  void commit(SharedTxn, TimePoint, OnTxn on_answer) override {
    txns.push_back(std::move(on_answer));
  }
  void grant(LeaseId, Seconds, TimePoint, OnLease on_answer) override {
    leases.push_back(std::move(on_answer));
  }
  void keep_alive(LeaseId, TimePoint, OnLease on_answer) override {
    leases.push_back(std::move(on_answer));
  }
  void revoke(LeaseId, TimePoint, OnLease on_answer) override {
    leases.push_back(std::move(on_answer));
  }
  void look_up(LeaseId, TimePoint, OnLease on_answer) override {
    leases.push_back(std::move(on_answer));
  }
  WatchId watch(Watch, OnWatch) override { return {1}; }
  void unwatch(WatchId) override {}

  std::deque<OnTxn> txns;
  std::deque<OnLease> leases;
};

class AttentivePortTest : public testing::Test {
 protected:
  /// A member that the process has not heard of answers a renewal, and knows less than another.
  void be_answered_by_one_that_is_behind() {
    keep_alive();
    answer({.cluster = 7, .member = 1, .revision = 9, .term = 2});
    ASSERT_EQ(answered_, 1);
    keep_alive();
    answer({.cluster = 7, .member = 2, .revision = 5, .term = 2});
  }
  void keep_alive() {
    attentive_->keep_alive({7}, env_.now() + 1s, [this](const Result<LeaseAnswer>& answer) {
      EXPECT_TRUE(answer);
      ++answered_;
      went_back_before_the_answer_ = went_back_ > 0;
    });
  }
  void answer(const Header& header) {
    OnLease on_answer = std::move(asked_->leases.front());
    asked_->leases.pop_front();
    on_answer(LeaseAnswer{.header = header, .ttl = Seconds{10}});
  }

  sim::Scheduler scheduler_;
  sim::SimEnv env_{scheduler_, 1};
  std::shared_ptr<AskedPort> asked_{std::make_shared<AskedPort>()};
  int went_back_{0};
  int answered_{0};
  bool went_back_before_the_answer_{false};
  std::shared_ptr<AttentivePort> attentive_{std::make_shared<AttentivePort>(
      env_, asked_, AttentivePort::Terms{.patience = Millis{1000}, .key = "k"}, [this] {
        ++went_back_;
      })};
};

TEST_F(AttentivePortTest, WhatAMemberThatIsBehindSaysIsHandedOverOnceATransactionHasTold) {
  be_answered_by_one_that_is_behind();
  EXPECT_EQ(answered_, 1);
  ASSERT_EQ(asked_->txns.size(), 1U);
  asked_->txns.front()(TxnAnswer{.header = {.cluster = 7, .member = 2, .revision = 9, .term = 2}});
  EXPECT_EQ(answered_, 2);
  EXPECT_EQ(went_back_, 0);
}

TEST_F(AttentivePortTest, WhatWentBackIsToldBeforeTheAnswerIsHandedOver) {
  be_answered_by_one_that_is_behind();
  ASSERT_EQ(asked_->txns.size(), 1U);
  asked_->txns.front()(TxnAnswer{.header = {.cluster = 7, .member = 2, .revision = 5, .term = 2}});
  EXPECT_EQ(answered_, 2);
  EXPECT_EQ(went_back_, 1);
  EXPECT_TRUE(went_back_before_the_answer_);
}

TEST_F(AttentivePortTest, WhereNobodyTellsTheAnswerIsHandedOverAsItIs) {
  be_answered_by_one_that_is_behind();
  ASSERT_EQ(asked_->txns.size(), 1U);
  asked_->txns.front()(Unexpected{Error{Errc::unknown_outcome, "no answer"}});
  EXPECT_EQ(answered_, 2);
  EXPECT_EQ(went_back_, 0);
}

}  // namespace
}  // namespace holdfast::etcd
