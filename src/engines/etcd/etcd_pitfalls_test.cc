// What other libraries got wrong on etcd, one test for each.

#include <gtest/gtest.h>

#include "engines/etcd/etcd_testing.h"

namespace holdfast::etcd::testing {
namespace {

class EtcdPitfallTest : public EtcdEngineTest {
 protected:
  /// Somebody ends the lease of a contender, as etcd does when it has run out.
  void end_lease_of(const KeyValue& entry) {
    const auto ended = bed_.ask<LeaseAnswer>(hand_, [&](auto on_answer) {
      hand_.port->revoke(entry.lease, hand_.env.now() + 5s, on_answer);
    });
    EXPECT_TRUE(ended);
  }
  /// A backup is restored, and others write more than was written before, all while the process is
  /// cut off.
  static void restore_unseen_by(sim::EtcdBed& bed, const Locker& process) {
    const Revision before = bed.cluster.revision();
    sim::EtcdBed::Process& other = bed.start();
    bed.cut_off(process.process);
    bed.cluster.restore();
    ASSERT_TRUE(bed.scheduler.run_until([&] { return bed.cluster.leader().has_value(); }, 10s));
    while (bed.cluster.revision() <= before) {
      ASSERT_TRUE(bed.commit(other, {.then = {Put{.key = "other"}}}));
    }
    bed.reconnect(process.process);
  }
  bool is_there(LeaseId lease) {
    const auto found = bed_.ask<LeaseAnswer>(hand_, [&](auto on_answer) {
      hand_.port->look_up(lease, hand_.env.now() + 5s, on_answer);
    });
    EXPECT_TRUE(found);
    return found && found->ttl > Seconds{0};
  }
  bool is_first(const Locker::Outcome& outcome) {
    const auto keys = contenders();
    const auto token = static_cast<Revision>(outcome.lease->held().token.value());
    return !keys.empty() && keys.front().created == token;
  }
};

TEST_F(EtcdPitfallTest, E1_NoLockIsGrantedOnALeaseThatEnded) {
  const auto first = alice_.acquire({});
  const auto second = bob_.begin({.wait = 1min});
  advance(1s);
  // Its news of this comes too late.
  bob_.port->deaf = true;
  const auto before = contenders();
  ASSERT_EQ(before.size(), 2U);
  end_lease_of(before[1]);
  erase(before[0].key);
  bob_.port->deaf = false;
  ASSERT_TRUE(run_until([&] { return second->done(); }));
  ASSERT_TRUE(second->lease);
  EXPECT_TRUE(is_first(*second));
  EXPECT_GT(second->lease->held().token.value(), static_cast<std::uint64_t>(before[1].created));
}

TEST_F(EtcdPitfallTest, E2_WhoWaitsNoticesTheEndOfItsOwnLeaseWhileTheHolderStays) {
  ASSERT_TRUE(alice_.acquire({})->lease);
  const auto second = bob_.begin({.wait = 5min});
  advance(1s);
  const auto before = contenders();
  ASSERT_EQ(before.size(), 2U);
  end_lease_of(before[1]);
  ASSERT_TRUE(run_until([&] { return contenders().size() == 2; }, 2s));
  EXPECT_NE(contenders()[1].lease, before[1].lease);
  EXPECT_FALSE(second->done());
}

TEST_F(EtcdPitfallTest, E2_WhoWaitsNoticesThatItsOwnKeyWasErased) {
  ASSERT_TRUE(alice_.acquire({})->lease);
  const auto second = bob_.begin({.wait = 5min});
  advance(1s);
  const auto before = contenders();
  erase(before.at(1).key);
  ASSERT_TRUE(run_until([&] { return contenders().size() == 2; }, 2s));
  EXPECT_GT(contenders()[1].created, before[1].created);
  EXPECT_FALSE(second->done());
}

TEST_F(EtcdPitfallTest, E3_TwoLocksOfOneSessionExcludeEachOther) {
  const auto one = alice_.acquire({});
  ASSERT_TRUE(one->lease);
  EXPECT_EQ(alice_.acquire({})->error->code, Errc::busy);
  EXPECT_EQ(alice_.port->grants, 1);
}

TEST_F(EtcdPitfallTest, E4_ValidityIsCountedFromSending) {
  bed_.network.set_faults({.delay_min = 400ms, .delay_max = 400ms});
  const auto taken = alice_.acquire({.ttl = 4s});
  ASSERT_TRUE(taken->lease);
  bed_.cut_off(alice_.process);
  ASSERT_TRUE(run_until([&] { return alice_.state(taken->lease) == LeaseState::lost; }));
  EXPECT_EQ(alice_.reason(taken->lease), LossReason::expired);
  bed_.network.set_faults({});
  EXPECT_EQ(contenders().size(), 1U) << "the holder knew of the end first";
}

TEST_F(EtcdPitfallTest, E5_ALeaderChangeTakesNothingFromAHolder) {
  const auto taken = alice_.acquire({.ttl = 4s});
  for (int i = 0; i < 10; ++i) {
    bed_.cluster.change_leader();
    advance(3s);
  }
  EXPECT_EQ(alice_.state(taken->lease), LeaseState::held);
  EXPECT_TRUE(is_first(*taken));
}

TEST_F(EtcdPitfallTest, E5_TheLockOfADeadHolderPassesOnInSpiteOfALeaderChange) {
  ASSERT_TRUE(alice_.acquire({.ttl = 4s})->lease);
  bed_.cut_off(alice_.process);
  const auto second = bob_.begin({.ttl = 4s, .wait = 1h});
  advance(3s);
  bed_.cluster.change_leader();
  EXPECT_TRUE(run_until([&] { return second->lease != nullptr; }, 2 * 4s + 2s));
}

TEST_F(EtcdPitfallTest, E6_ALeaseTakenByAStuckLeaderIsToldAsRevoked) {
  const auto taken = alice_.acquire({.ttl = 4s});
  advance(10s);
  const auto stuck = bed_.cluster.stick_leader();
  ASSERT_TRUE(stuck);
  advance(6s);
  EXPECT_EQ(alice_.state(taken->lease), LeaseState::held) << "it was renewed at the new leader";
  bed_.cluster.go_on(*stuck);
  ASSERT_TRUE(run_until([&] { return alice_.state(taken->lease) == LeaseState::lost; }, 1s));
  EXPECT_EQ(alice_.reason(taken->lease), LossReason::revoked);
  EXPECT_TRUE(alice_.acquire({.ttl = 4s})->lease) << "with another lease";
}

TEST_F(EtcdPitfallTest, E7_AllLocksOfAProcessAreRenewedByOneRequest) {
  std::vector<std::shared_ptr<Locker::Outcome>> all;
  for (int i = 0; i < 100; ++i) all.push_back(alice_.acquire({.name = std::to_string(i)}));
  std::vector<core::HeldLease> leases;
  for (const auto& taken : all) leases.push_back(taken->lease->held());
  const int before = alice_.port->requests();
  const auto fates = alice_.wait_for(alice_.engine->renew(leases, 10s, alice_.soon()));
  ASSERT_TRUE(fates);
  EXPECT_EQ(*fates, std::vector<core::Fate>(100, core::Fate::renewed));
  EXPECT_EQ(alice_.port->requests(), before + 1);
}

TEST_F(EtcdPitfallTest, E8_AHolderThatIsCutOffKnowsBeforeAnotherIsGranted) {
  const auto taken = alice_.acquire({.ttl = 4s});
  const auto second = bob_.begin({.ttl = 4s, .wait = 1h});
  advance(10s);
  bed_.cut_off(alice_.process);
  ASSERT_TRUE(run_until([&] { return second->done(); }, 1min));
  ASSERT_TRUE(second->lease);
  EXPECT_EQ(alice_.state(taken->lease), LeaseState::lost);
  EXPECT_EQ(alice_.reason(taken->lease), LossReason::expired);
  ASSERT_FALSE(taken->events.empty());
  EXPECT_EQ(taken->events.back().state, LeaseState::lost);
}

TEST_F(EtcdPitfallTest, E8_AShortInterruptionLosesNothing) {
  const auto taken = alice_.acquire({.ttl = 10s});
  advance(3s);
  bed_.cut_off(alice_.process);
  advance(5s);
  bed_.reconnect(alice_.process);
  advance(30s);
  EXPECT_EQ(alice_.state(taken->lease), LeaseState::held);
  EXPECT_TRUE(is_first(*taken));
}

TEST_F(EtcdPitfallTest, E9_ARestoreFromABackupIsNoticed) {
  bed_.cluster.back_up();
  const auto taken = alice_.acquire({.ttl = 10s});
  for (int i = 0; i < 20; ++i) put("other");
  ASSERT_TRUE(alice_.acquire({.name = "b"})->lease);
  bed_.cluster.restore();
  ASSERT_TRUE(run_until([&] { return alice_.state(taken->lease) == LeaseState::lost; }, 10s));
  EXPECT_EQ(alice_.reason(taken->lease), LossReason::rolled_back);
  EXPECT_TRUE(alice_.acquire({.name = "c"})->lease);
}

TEST_F(EtcdPitfallTest, E9_ARestoreThatHasTheLeaseIsNoticedToo) {
  const auto taken = alice_.acquire({.ttl = 10s});
  bed_.cluster.back_up();
  for (int i = 0; i < 20; ++i) put("other");
  advance(4s);
  bed_.cluster.restore();
  ASSERT_TRUE(run_until([&] { return alice_.state(taken->lease) == LeaseState::lost; }, 10s));
  EXPECT_EQ(alice_.reason(taken->lease), LossReason::rolled_back);
}

// Neither revisions nor leases show it, but terms begin anew.
TEST_F(EtcdPitfallTest, E9_ARestoreIsNoticedThoughOthersHaveWrittenMoreSince) {
  sim::EtcdBed alone{1};
  Locker holder{alone, settings_};
  for (int i = 0; i < 3; ++i) alone.cluster.change_leader();
  ASSERT_TRUE(holder.acquire({.name = "other", .ttl = 1min})->lease);
  alone.cluster.back_up();
  const auto taken = holder.acquire({.ttl = 1min});
  alone.scheduler.advance(5s);
  restore_unseen_by(alone, holder);
  ASSERT_TRUE(alone.scheduler.run_until(
      [&] { return holder.state(taken->lease) == LeaseState::lost; }, 5s));
  EXPECT_EQ(holder.reason(taken->lease), LossReason::rolled_back);
}

// The restored cluster is in the same term as before: the key alone is missing.
TEST_F(EtcdPitfallTest, E9_AHolderWhoseKeyIsNotInTheBackupIsTold) {
  sim::EtcdBed alone{1};
  Locker holder{alone, settings_};
  const auto other = holder.acquire({.name = "other", .ttl = 1min});
  alone.cluster.back_up();
  const auto taken = holder.acquire({.ttl = 1min});
  alone.scheduler.advance(5s);
  restore_unseen_by(alone, holder);
  ASSERT_TRUE(alone.scheduler.run_until(
      [&] { return holder.state(taken->lease) == LeaseState::lost; }, 5s));
  EXPECT_EQ(holder.reason(taken->lease), LossReason::removed);
  EXPECT_EQ(holder.state(other->lease), LeaseState::held);
}

TEST_F(EtcdPitfallTest, E27_AttemptsThatFailShareOneLease) {
  ASSERT_TRUE(alice_.acquire({})->lease);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(bob_.acquire({})->error->code, Errc::busy);
  EXPECT_EQ(bob_.port->grants, 1);
}

TEST_F(EtcdPitfallTest, E27_ALeaseWhoseGrantWentUnansweredEndsByItself) {
  bed_.lose_next_replies(alice_.process, 1);
  const auto taken = alice_.acquire({.ttl = 4s});
  ASSERT_TRUE(taken->lease);
  std::vector<LeaseId> asked_for = alice_.port->asked_for;
  ASSERT_GT(asked_for.size(), 1U);
  advance(1min);
  EXPECT_TRUE(is_there(asked_for.back()));
  asked_for.pop_back();
  for (const LeaseId unanswered : asked_for) EXPECT_FALSE(is_there(unanswered));
  EXPECT_EQ(alice_.state(taken->lease), LeaseState::held);
}

TEST_F(EtcdPitfallTest, E28_ARenewalThatFailsIsRepeatedElsewhere) {
  const auto taken = alice_.acquire({.ttl = 10s});
  for (int i = 0; i < 5; ++i) {
    bed_.lose_next_replies(alice_.process, 1);
    advance(5s);
  }
  for (std::size_t member = 0; member < bed_.cluster.members(); ++member) {
    bed_.cluster.stop(member);
    advance(10s);
    bed_.cluster.start(member);
    advance(5s);
  }
  EXPECT_EQ(alice_.state(taken->lease), LeaseState::held);
  EXPECT_TRUE(is_first(*taken));
}

TEST_F(EtcdPitfallTest, E30_CompactionKeepsNobodyWaiting) {
  const auto first = alice_.acquire({});
  const auto second = bob_.begin({.wait = 1h});
  advance(1s);
  bed_.cut_off(bob_.process);
  EXPECT_EQ(alice_.release(first->lease), ReleaseOutcome::released);
  for (int i = 0; i < 10; ++i) put("other");
  bed_.cluster.compact(bed_.cluster.revision());
  bed_.reconnect(bob_.process);
  EXPECT_TRUE(run_until([&] { return second->lease != nullptr; }, 10s));
}

// The watch may go on from there, and yet the erasure is not in the history any more.
TEST_F(EtcdPitfallTest, E30_WhoLeftAtTheVeryRevisionOfACompactionKeepsNobodyWaiting) {
  const auto first = alice_.acquire({});
  const auto second = bob_.begin({.ttl = 1min, .wait = 1h});
  advance(1s);
  bed_.cut_off(bob_.process);
  EXPECT_EQ(alice_.release(first->lease), ReleaseOutcome::released);
  bed_.cluster.compact(bed_.cluster.revision());
  bed_.reconnect(bob_.process);
  EXPECT_TRUE(run_until([&] { return second->lease != nullptr; }, 10s));
}

TEST_F(EtcdPitfallTest, E30_AHolderIsToldOfAnErasureAtTheVeryRevisionOfACompaction) {
  const auto taken = alice_.acquire({.ttl = 1min});
  advance(5s);
  bed_.cut_off(alice_.process);
  erase(contenders().at(0).key);
  bed_.cluster.compact(bed_.cluster.revision());
  bed_.reconnect(alice_.process);
  ASSERT_TRUE(run_until([&] { return alice_.state(taken->lease) == LeaseState::lost; }, 10s));
  EXPECT_EQ(alice_.reason(taken->lease), LossReason::removed);
}

TEST_F(EtcdPitfallTest, E30_AHolderSurvivesCompaction) {
  const auto taken = alice_.acquire({});
  for (int i = 0; i < 10; ++i) put("other");
  bed_.cluster.compact(bed_.cluster.revision());
  advance(1min);
  EXPECT_EQ(alice_.state(taken->lease), LeaseState::held);
  EXPECT_EQ(alice_.release(taken->lease), ReleaseOutcome::released);
}

TEST_F(EtcdPitfallTest, E32_AReleaseTellsWhetherTheLockWasStillThere) {
  const auto taken = alice_.acquire({});
  erase(contenders().at(0).key);
  EXPECT_EQ(alice_.release(taken->lease), ReleaseOutcome::already_lost);
}

}  // namespace
}  // namespace holdfast::etcd::testing
