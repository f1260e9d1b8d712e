// Answers and news that are lost, and locks that are taken from their holders.

#include <gtest/gtest.h>

#include "engines/etcd/etcd_testing.h"

namespace holdfast::etcd::testing {
namespace {

class EtcdLossTest : public EtcdEngineTest {
 protected:
  bool is_lost(const Locker& who, const Locker::Outcome& taken) {
    return who.state(taken.lease) == LeaseState::lost;
  }
};

TEST_F(EtcdLossTest, AnUnansweredAcquisitionIsSettledUnderTheSameKey) {
  ASSERT_TRUE(alice_.acquire({.name = "first"})->lease);
  bed_.lose_next_replies(alice_.process, 1);
  const auto taken = alice_.acquire({});
  ASSERT_TRUE(taken->lease);
  const auto keys = contenders();
  ASSERT_EQ(keys.size(), 1U);
  EXPECT_EQ(taken->lease->held().token, Token{static_cast<std::uint64_t>(keys[0].created)});
}

TEST_F(EtcdLossTest, AnUnansweredReleaseIsSettled) {
  const auto taken = alice_.acquire({});
  bed_.lose_next_replies(alice_.process, 1);
  EXPECT_EQ(alice_.release(taken->lease), ReleaseOutcome::released);
  EXPECT_TRUE(contenders().empty());
}

TEST_F(EtcdLossTest, AnUnansweredReleaseIsCarriedOutLater) {
  const auto taken = alice_.acquire({.ttl = 1min});
  const auto other = alice_.acquire({.name = "other", .ttl = 1min});
  bed_.cut_off(alice_.process);
  EXPECT_EQ(alice_.release(taken->lease), ReleaseOutcome::unknown);
  bed_.reconnect(alice_.process);
  EXPECT_TRUE(run_until([&] { return contenders().empty(); }, 5s))
      << "the lease stands, and would keep the lock as long as the process lives";
  EXPECT_EQ(alice_.state(other->lease), LeaseState::held);
}

// The request arrives when nobody waits for its answer any more, but the session still stands.
TEST_F(EtcdLossTest, ARequestThatIsServedTooLateLeavesNothingBehind) {
  ASSERT_TRUE(alice_.acquire({.name = "other"})->lease);
  alice_.port->delay = 20s;
  alice_.port->delay_next = 100;
  const auto refused = alice_.acquire({});
  ASSERT_TRUE(refused->error);
  EXPECT_EQ(refused->error->code, Errc::unknown_outcome);
  alice_.port->delay_next = 0;
  advance(1min);
  EXPECT_TRUE(contenders().empty());
  EXPECT_TRUE(bob_.acquire({})->lease);
}

TEST_F(EtcdLossTest, ARequestThatIsServedAfterTheReleaseLeavesNothingBehind) {
  ASSERT_TRUE(alice_.acquire({.name = "other"})->lease);
  alice_.port->delay = 20s;
  alice_.port->delay_next = 1;
  const auto taken = alice_.acquire({});
  ASSERT_TRUE(taken->lease);
  EXPECT_EQ(alice_.release(taken->lease), ReleaseOutcome::released);
  advance(1min);
  EXPECT_TRUE(contenders().empty());
}

TEST_F(EtcdLossTest, LostNewsCostsOneLookAndNeverAHang) {
  const auto first = alice_.acquire({});
  const auto second = bob_.begin({.wait = 1h});
  advance(1s);
  bob_.port->deaf = true;
  EXPECT_EQ(alice_.release(first->lease), ReleaseOutcome::released);
  EXPECT_TRUE(run_until([&] { return second->lease != nullptr; }, settings_.look_again + 2s));
}

TEST_F(EtcdLossTest, ABrokenLockIsToldAtOnce) {
  const auto taken = alice_.acquire({});
  advance(10s);
  const auto report = bob_.wait_for(bob_.desk->break_lock(LockName{"ledger"}, "test", bob_.soon()));
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_TRUE(run_until([&] { return is_lost(alice_, *taken); }, 1s));
  EXPECT_EQ(alice_.reason(taken->lease), LossReason::broken);
}

TEST_F(EtcdLossTest, ALockThatIsBrokenAtOnceIsToldAMomentLater) {
  const auto taken = alice_.acquire({.ttl = 1min});
  ASSERT_TRUE(bob_.wait_for(bob_.desk->break_lock(LockName{"ledger"}, "test", bob_.soon())));
  ASSERT_TRUE(run_until([&] { return is_lost(alice_, *taken); }, 5s));
  EXPECT_EQ(alice_.reason(taken->lease), LossReason::broken);
}

TEST_F(EtcdLossTest, AnErasedKeyIsToldAsRemovedAndOtherLocksStand) {
  const auto taken = alice_.acquire({});
  const auto other = alice_.acquire({.name = "other"});
  advance(10s);
  erase(contenders().at(0).key);
  ASSERT_TRUE(run_until([&] { return is_lost(alice_, *taken); }, 1s));
  EXPECT_EQ(alice_.reason(taken->lease), LossReason::removed);
  EXPECT_EQ(alice_.state(other->lease), LeaseState::held);
}

TEST_F(EtcdLossTest, AHolderThatWaitedBeforeIsToldToo) {
  const auto first = alice_.acquire({});
  const auto second = bob_.begin({.wait = 1min});
  advance(1s);
  EXPECT_EQ(alice_.release(first->lease), ReleaseOutcome::released);
  ASSERT_TRUE(run_until([&] { return second->lease != nullptr; }));
  erase(contenders().at(0).key);
  ASSERT_TRUE(run_until([&] { return is_lost(bob_, *second); }, 1s));
  EXPECT_EQ(bob_.reason(second->lease), LossReason::removed);
}

TEST_F(EtcdLossTest, ARevokedLeaseLosesAllItsLocksWithOneReason) {
  std::vector<std::shared_ptr<Locker::Outcome>> all;
  for (int i = 0; i < 50; ++i) all.push_back(alice_.acquire({.name = std::to_string(i)}));
  advance(10s);
  const LeaseId lease = contenders("0").at(0).lease;
  ASSERT_TRUE(bed_.ask<LeaseAnswer>(
      hand_, [&](auto on_answer) { hand_.port->revoke(lease, hand_.env.now() + 5s, on_answer); }));
  const auto lost = [&](const auto& taken) { return is_lost(alice_, *taken); };
  ASSERT_TRUE(run_until([&] { return std::ranges::all_of(all, lost); }, 2s));
  for (const auto& taken : all) EXPECT_EQ(alice_.reason(taken->lease), LossReason::revoked);
}

TEST_F(EtcdLossTest, AnExpiredSessionIsNotUsedAgainAndFreesItsKeys) {
  const auto taken = alice_.acquire({.ttl = 4s});
  bed_.cut_off(alice_.process);
  ASSERT_TRUE(run_until([&] { return is_lost(alice_, *taken); }));
  const auto before = contenders();
  bed_.reconnect(alice_.process);
  const auto again = alice_.acquire({.ttl = 4s, .wait = 10s});
  ASSERT_TRUE(again->lease);
  const auto after = contenders();
  ASSERT_EQ(after.size(), 1U);
  ASSERT_EQ(before.size(), 1U);
  EXPECT_NE(after[0].lease, before[0].lease);
}

TEST_F(EtcdLossTest, ASessionWhoseRenewalIsOverdueIsAskedForFirst) {
  const auto taken = alice_.acquire({.ttl = 9s});
  EXPECT_EQ(alice_.release(taken->lease), ReleaseOutcome::released);
  bed_.cut_off(alice_.process);
  advance(7s);
  bed_.reconnect(alice_.process);
  const auto again = alice_.acquire({.name = "b", .ttl = 9s});
  ASSERT_TRUE(again->lease);
  EXPECT_GT(again->lease->valid_until() - alice_.process.env.now(), 8s);
}

}  // namespace
}  // namespace holdfast::etcd::testing
