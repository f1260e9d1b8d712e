#include "engines/etcd/lock_txns.h"

#include <gtest/gtest.h>

#include "sim/etcd/etcd_model.h"

namespace holdfast::etcd {
namespace {

/// Over the model's key space: no network, no time.
class LockTxnsTest : public testing::Test {
 protected:
  LockTxnsTest() { static_cast<void>(model_.grant(kLease, Seconds{10}, {})); }

  Place place(const std::string& owner_fp) const {
    Place made{.name = LockName{"ledger"}, .owner_fp = owner_fp, .lease = kLease};
    made.key = keys_.contender(made.name, kLease, owner_fp);
    return made;
  }
  Seen enter(Place& at, const core::Claim& claim = {}) {
    const auto answer = model_.commit(enter_txn(keys_, at, {.claim = claim}));
    const Seen seen = read_entered(answer.value(), at);
    at.created = seen.created;
    return seen;
  }
  Seen look(const Place& at) {
    return read_looked(model_.commit(look_txn(keys_, at, {})).value(), at);
  }
  Left leave(const Place& at) { return read_left(model_.commit(leave_txn(keys_, at)).value()); }

  static constexpr LeaseId kLease{7};
  const Keys keys_{"hf/"};
  sim::EtcdModel model_;
  Place one_{place("00000000000000aa")};
  Place other_{place("00000000000000bb")};
};

TEST_F(LockTxnsTest, WhoEntersSeesTheOneBefore) {
  const Seen first = enter(one_);
  EXPECT_EQ(first.created, model_.keys().revision());
  EXPECT_TRUE(first.ahead->empty());
  const Seen second = enter(other_);
  ASSERT_EQ(second.ahead->size(), 1U);
  EXPECT_EQ(second.ahead->front().key, one_.key);
}

TEST_F(LockTxnsTest, EnteringTwiceTakesEffectOnce) {
  const Revision created = enter(one_).created;
  const Seen again = enter(one_);
  EXPECT_EQ(again.created, created);
  EXPECT_FALSE(again.ahead) << "what is ahead is to be looked at";
}

TEST_F(LockTxnsTest, WhoSharesSeesAllThatAreAheadAndNoneBehind) {
  const core::Claim shared{.mode = Mode::shared};
  Place third = place("00000000000000cc");
  enter(one_, shared);
  enter(other_, shared);
  EXPECT_EQ(enter(third, shared).ahead->size(), 2U);
  const auto looked = model_.commit(look_txn(keys_, other_, shared));
  ASSERT_EQ(read_looked(*looked, other_).ahead->size(), 1U);
}

TEST_F(LockTxnsTest, ALookTellsWhetherThePlaceStillStands) {
  enter(one_);
  enter(other_);
  EXPECT_EQ(look(other_).ahead->size(), 1U);
  EXPECT_EQ(leave(one_), Left::now);
  EXPECT_TRUE(look(other_).ahead->empty());
  EXPECT_EQ(look(one_).created, 0);
}

TEST_F(LockTxnsTest, LeavingTellsWhetherItWasThere) {
  enter(one_);
  EXPECT_EQ(leave(one_), Left::now);
  EXPECT_EQ(leave(one_), Left::before);
}

TEST_F(LockTxnsTest, WhatWasGivenUpIsNotEnteredLater) {
  one_.unsettled = true;
  EXPECT_EQ(leave(one_), Left::before);
  EXPECT_EQ(enter(one_).created, 0);
  EXPECT_EQ(model_.keys().find(one_.key), nullptr);
}

TEST_F(LockTxnsTest, WhoLeavesWithoutKnowingItsPlaceIsGoneAllTheSame) {
  enter(one_);
  one_.created = 0;
  EXPECT_EQ(leave(one_), Left::now);
  EXPECT_EQ(model_.keys().find(one_.key), nullptr);
}

}  // namespace
}  // namespace holdfast::etcd
