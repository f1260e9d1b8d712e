// What other libraries got wrong on ZooKeeper, one test for each.

#include <gtest/gtest.h>

#include <limits>

#include "engines/zookeeper/zookeeper_testing.h"

namespace holdfast::zookeeper::testing {
namespace {

class ZookeeperPitfallTest : public ZookeeperEngineTest {
 protected:
  static std::uint64_t token(const Locker::Outcome& outcome) {
    return outcome.lease->held().token.value();
  }
  bool is_first(const Locker::Outcome& outcome) {
    const auto queue = contenders();
    return !queue.empty() && stat_of(queue.front()).created == static_cast<Zxid>(token(outcome));
  }
  /// The lock's node is there, and nobody wants the lock.
  void prepare() {
    const auto taken = bob_.acquire({});
    EXPECT_EQ(bob_.release(taken->lease), ReleaseOutcome::released);
  }
};

TEST_F(ZookeeperPitfallTest, Z10_ACreationWhoseAnswerWasLostIsFoundAgain) {
  prepare();
  alice_.port->traffic->lose_created = 1;
  const auto taken = alice_.acquire({});
  ASSERT_TRUE(taken->lease);
  EXPECT_EQ(contenders().size(), 1U) << "it made no other";
  EXPECT_TRUE(is_first(*taken));
  EXPECT_EQ(alice_.release(taken->lease), ReleaseOutcome::released);
  EXPECT_TRUE(contenders().empty());
}

TEST_F(ZookeeperPitfallTest, Z10_ACreationThatNeverLeftIsRepeated) {
  prepare();
  alice_.port->traffic->lose_creates = 1;
  const auto taken = alice_.acquire({});
  ASSERT_TRUE(taken->lease);
  EXPECT_EQ(contenders().size(), 1U);
  EXPECT_TRUE(is_first(*taken));
}

TEST_F(ZookeeperPitfallTest, Z10_ACreationThatRunsLateLeavesNoOrphan) {
  prepare();
  alice_.port->traffic->delay_creates = 1;
  const auto taken = alice_.acquire({});
  ASSERT_TRUE(taken->lease);
  ASSERT_TRUE(run_until([&] { return contenders().size() == 2; }, 5s)) << "it has run";
  EXPECT_TRUE(run_until([&] { return contenders().size() == 1; }, 30s));
  EXPECT_TRUE(is_first(*taken));
}

TEST_F(ZookeeperPitfallTest, Z10_WhoGivesUpLeavesNoOrphanOfALostAnswer) {
  prepare();
  alice_.port->traffic->lose_created = 1;
  const auto waiting = alice_.begin({.wait = 1h});
  advance(10ms);
  waiting->stop.request_stop();
  ASSERT_TRUE(run_until([&] { return waiting->done(); }, 10s));
  if (waiting->lease) {
    EXPECT_EQ(alice_.release(waiting->lease), ReleaseOutcome::released);
  }
  EXPECT_TRUE(run_until([&] { return contenders().empty(); }, 5s));
}

// CURATOR-498: a client whose creation was unanswered found the node of its former session, which
// was about to go, and thought that it held the lock.
TEST_F(ZookeeperPitfallTest, Z11_Curator498_TheNodeOfAFormerSessionIsNotBelieved) {
  prepare();
  alice_.port->traffic->lose_created = 1;
  const auto waiting = alice_.begin({.wait = 1h});
  // The node is there, but its creator does not know; and then its session ends.
  ASSERT_TRUE(run_until([&] { return contenders().size() == 1; }, 1s));
  const SessionId former = stat_of(contenders().at(0)).owner;
  end_session(alice_);
  ASSERT_TRUE(run_until([&] { return waiting->lease != nullptr; }, 30s));
  EXPECT_TRUE(is_first(*waiting));
  EXPECT_NE(stat_of(contenders().at(0)).owner, former);
  EXPECT_EQ(stat_of(contenders().at(0)).owner, alice_.port->traffic->key.id);
}

// The same with an id that is not a new one, as Curator's is not: whose session made the node is
// all that tells it from the own one.
TEST_F(ZookeeperPitfallTest, Z11_Curator498_ANodeWithItsOwnIdIsNotBelievedIfAnotherSessionMadeIt) {
  prepare();
  sim::ZookeeperBed::Session former = bed_.open(hand_, 30s);
  const SessionId its = former.await(SessionEvent::Kind::connected).key.id;
  alice_.port->traffic->usurp = [&](const SharedRequest& create) {
    hand_.env.post([&, create] {
      former.session->send(create, hand_.env.now() + 1h, [](const Result<Answer>&) {});
    });
  };
  const auto waiting = alice_.begin({.wait = 1h});
  ASSERT_TRUE(run_until([&] { return contenders().size() == 2; }, 10s)) << "it made one of its own";
  EXPECT_EQ(stat_of(contenders().at(0)).owner, its);
  advance(5s);
  EXPECT_FALSE(waiting->done());
  hand_.env.post([&] { former.session->close(); });
  ASSERT_TRUE(run_until([&] { return waiting->lease != nullptr; }, 10s));
  EXPECT_TRUE(is_first(*waiting));
  EXPECT_EQ(stat_of(contenders().at(0)).owner, alice_.port->traffic->key.id);
}

// CURATOR-604: a new session, at a server that is behind, saw the node that the client had with its
// former session, and took it for its own.
TEST_F(ZookeeperPitfallTest, Z12_Curator604_AServerThatIsBehindHandsOutNoStaleNode) {
  const auto taken = alice_.acquire({.ttl = 4s});
  ASSERT_TRUE(taken->lease);
  const auto stale = contenders().at(0);
  const SessionKey key = alice_.port->traffic->key;
  sim::ZookeeperBed::Session other{bed_, hand_, {.timeout = 10s, .resume = key}};
  other.await(SessionEvent::Kind::connected);
  bed_.ensemble.set_lag(sim::PerMille{1000});
  other.session->close();
  ASSERT_TRUE(run_until([&] { return !bed_.ensemble.has_session(key.id); }));
  const auto shows_it = [&](std::size_t member) {
    return bed_.ensemble.tree(member).has(path_of(stale));
  };
  EXPECT_TRUE(shows_it(0) || shows_it(1) || shows_it(2)) << "no server is behind";
  ASSERT_TRUE(run_until([&] { return alice_.state(taken->lease) == LeaseState::lost; }, 10s));
  // It has to look for its node.
  alice_.port->traffic->lose_created = 1;
  const auto again = alice_.acquire({.ttl = 4s, .wait = 1min});
  ASSERT_TRUE(again->lease);
  EXPECT_EQ(stat_of(contenders().at(0)).owner, alice_.port->traffic->key.id);
  EXPECT_GT(token(*again), token(*taken));
  EXPECT_TRUE(is_first(*again));
  EXPECT_NE(contenders().at(0).name, stale.name);
}

TEST_F(ZookeeperPitfallTest, Z13_NoTwoHoldAtOnceWhenTheHoldersSessionEnds) {
  const auto first = alice_.acquire({.ttl = 4s});
  const auto second = bob_.begin({.ttl = 4s, .wait = 1h});
  advance(1s);
  end_session(alice_);
  ASSERT_TRUE(run_until([&] { return second->lease != nullptr; }, 10s));
  EXPECT_TRUE(run_until([&] { return alice_.state(first->lease) == LeaseState::lost; }, 1s));
  EXPECT_EQ(alice_.reason(first->lease), LossReason::revoked) << "it was taken, not forgotten";
  EXPECT_TRUE(is_first(*second));
}

TEST_F(ZookeeperPitfallTest, Z14_AFailedReleaseIsRepeatedUntilTheNodeIsGone) {
  const auto taken = alice_.acquire({});
  advance(4s);
  bed_.cut_off(alice_.process);
  const auto released =
      alice_.wait_for(alice_.session->release(taken->lease, alice_.process.env.now() + 500ms));
  EXPECT_EQ(released, ReleaseOutcome::unknown);
  const auto again = alice_.begin({.wait = 1min});
  bed_.reconnect(alice_.process);
  EXPECT_TRUE(run_until([&] { return again->lease != nullptr; }, 10s))
      << "it does not stand in its own way";
  EXPECT_GT(token(*again), taken->lease->held().token.value());
}

TEST_F(ZookeeperPitfallTest, Z15_AHolderIsToldThatItsNodeWasRemoved) {
  const auto taken = alice_.acquire({});
  advance(2s);
  erase(contenders().at(0));
  ASSERT_TRUE(run_until([&] { return alice_.state(taken->lease) == LeaseState::lost; }, 1s));
  EXPECT_EQ(alice_.reason(taken->lease), LossReason::removed);
  ASSERT_FALSE(taken->events.empty());
  EXPECT_EQ(taken->events.back().state, LeaseState::lost);
}

TEST_F(ZookeeperPitfallTest, Z16_AHolderThatIsCutOffKnowsBeforeAnotherIsGranted) {
  const auto taken = alice_.acquire({.ttl = 4s});
  const auto second = bob_.begin({.ttl = 4s, .wait = 1h});
  advance(10s);
  bed_.cut_off(alice_.process);
  ASSERT_TRUE(run_until([&] { return second->done(); }, 1min));
  ASSERT_TRUE(second->lease);
  EXPECT_EQ(alice_.state(taken->lease), LeaseState::lost);
  EXPECT_EQ(alice_.reason(taken->lease), LossReason::expired);
}

TEST_F(ZookeeperPitfallTest, Z16_AHolderWhoseServerIsCutOffKnowsBeforeAnotherIsGranted) {
  for (std::size_t member = 0; member < bed_.ensemble.members(); ++member) {
    const std::string name = std::to_string(member);
    const auto taken = alice_.acquire({.name = name, .ttl = 4s});
    const auto second = bob_.begin({.name = name, .ttl = 4s, .wait = 1h});
    advance(10s);
    ASSERT_TRUE(taken->lease);
    bed_.ensemble.isolate(member);
    const auto both = [&] {
      return second->lease && alice_.state(taken->lease) != LeaseState::lost;
    };
    EXPECT_FALSE(run_until(both, 30s)) << member;
    bed_.ensemble.rejoin(member);
    advance(30s);
    second->stop.request_stop();
    advance(5s);
  }
}

TEST_F(ZookeeperPitfallTest, Z16_AShortInterruptionLosesNothing) {
  const auto taken = alice_.acquire({.ttl = 10s});
  advance(12s);
  bed_.cut_off(alice_.process);
  advance(3s);
  bed_.reconnect(alice_.process);
  advance(30s);
  EXPECT_EQ(alice_.state(taken->lease), LeaseState::held);
  EXPECT_TRUE(is_first(*taken));
}

TEST_F(ZookeeperPitfallTest, Z16_AServerThatHangsIsLeftThoughItsConnectionStands) {
  ASSERT_TRUE(alice_.acquire({.ttl = 10s})->lease);
  advance(12s);
  bed_.mute(alice_.process);
  EXPECT_TRUE(run_until([&] { return alice_.port->traffic->resumed > 0; }, 4s))
      << "long before the client library notices";
  bed_.unmute(alice_.process);
  EXPECT_TRUE(alice_.acquire({.name = "another", .ttl = 10s, .wait = 20s})->lease);
}

TEST_F(ZookeeperPitfallTest, Z16_AChangeOfLeaderTakesNothingFromAHolder) {
  const auto taken = alice_.acquire({.ttl = 10s});
  for (int i = 0; i < 5; ++i) {
    bed_.ensemble.change_leader();
    advance(15s);
  }
  EXPECT_EQ(alice_.state(taken->lease), LeaseState::held);
  EXPECT_TRUE(is_first(*taken));
}

// Some servers do not resume a session that they have forgotten, but open another without a word.
TEST_F(ZookeeperPitfallTest, Z17_ASessionThatIsNotTheOneToBeResumedIsNotTakenForIt) {
  const auto taken = alice_.acquire({.ttl = 10s});
  advance(12s);
  const SessionId own = alice_.port->traffic->key.id;
  alice_.port->traffic->forgetful = true;
  bed_.mute(alice_.process);
  ASSERT_TRUE(run_until([&] { return alice_.port->traffic->resumed > 0; }, 4s));
  bed_.unmute(alice_.process);
  ASSERT_TRUE(run_until([&] { return alice_.state(taken->lease) == LeaseState::lost; }, 5s));
  EXPECT_EQ(alice_.reason(taken->lease), LossReason::revoked);
  const SessionId other = alice_.port->traffic->key.id;
  EXPECT_NE(other, own);
  EXPECT_TRUE(run_until([&] { return !bed_.ensemble.has_session(other); }, 5s))
      << "what nobody asked for is closed";
}

TEST_F(ZookeeperPitfallTest, Z18_NothingIsWatchedThatIsOver) {
  const auto first = alice_.acquire({});
  const auto second = bob_.begin({.wait = 1min});
  advance(5s);
  EXPECT_EQ(alice_.port->traffic->watched.size(), 1U) << "its own node";
  EXPECT_EQ(bob_.port->traffic->watched.size(), 1U) << "the one before";
  EXPECT_EQ(alice_.release(first->lease), ReleaseOutcome::released);
  ASSERT_TRUE(run_until([&] { return second->lease != nullptr; }));
  EXPECT_TRUE(alice_.port->traffic->watched.empty());
  EXPECT_TRUE(bob_.port->traffic->watched.empty());
  EXPECT_EQ(bob_.release(second->lease), ReleaseOutcome::released);
  advance(1s);
  EXPECT_EQ(bed_.ensemble.watches(), 0U);
}

TEST_F(ZookeeperPitfallTest, Z18_WhoGivesUpLeavesNoWatchBehind) {
  ASSERT_TRUE(alice_.acquire({})->lease);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(bob_.acquire({.wait = 500ms})->error);
  advance(1s);
  EXPECT_TRUE(bob_.port->traffic->watched.empty());
  EXPECT_LE(bed_.ensemble.watches(), 1U) << "that of the holder's own node";
}

TEST_F(ZookeeperPitfallTest, Z18_LostNewsCostsOneLookAndNeverAHang) {
  const auto first = alice_.acquire({});
  const auto second = bob_.begin({.wait = 1h});
  advance(1s);
  bob_.port->traffic->deaf = true;
  EXPECT_EQ(alice_.release(first->lease), ReleaseOutcome::released);
  advance(1s);
  EXPECT_FALSE(second->done());
  EXPECT_TRUE(run_until([&] { return second->lease != nullptr; }, settings_.look_again + 1s));
}

TEST_F(ZookeeperPitfallTest, Z19_ALockNodeThatTheServersRemovedIsMadeAgain) {
  prepare();
  const auto removed = ask(Erase{.path = "/hf/ledger"});
  EXPECT_EQ(removed.verdict, Verdict::done);
  const auto taken = alice_.acquire({});
  ASSERT_TRUE(taken->lease);
  EXPECT_TRUE(is_first(*taken));
}

TEST_F(ZookeeperPitfallTest, Z19_TokensRiseThoughTheNumbersBeginAnew) {
  const auto first = alice_.acquire({});
  EXPECT_EQ(alice_.release(first->lease), ReleaseOutcome::released);
  EXPECT_EQ(ask(Erase{.path = "/hf/ledger"}).verdict, Verdict::done);
  const auto second = bob_.acquire({});
  ASSERT_TRUE(second->lease);
  EXPECT_EQ(contenders().at(0).contender.sequence, 0);
  EXPECT_GT(token(*second), first->lease->held().token.value());
}

TEST_F(ZookeeperPitfallTest, Z20_TheQueueKeepsItsOrderPastTheLastNumber) {
  prepare();
  for (std::size_t i = 0; i < bed_.ensemble.members(); ++i) {
    bed_.ensemble.tree(i).count_creations("/hf/ledger",
                                          std::numeric_limits<std::int32_t>::max() - 1);
  }
  std::vector<std::unique_ptr<Locker>> lockers;
  std::vector<std::shared_ptr<Locker::Outcome>> waiting;
  for (int i = 0; i < 6; ++i) {
    lockers.push_back(std::make_unique<Locker>(bed_, settings_));
    waiting.push_back(lockers.back()->begin({.wait = 1h}));
    advance(500ms);
  }
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(run_until([&] { return waiting[i]->lease != nullptr; }, 5s)) << i;
    EXPECT_TRUE(i == 5 || !waiting[i + 1]->done()) << i;
    EXPECT_TRUE(i == 0 || token(*waiting[i]) > token(*waiting[i - 1])) << i;
    EXPECT_EQ(lockers[i]->release(waiting[i]->lease), ReleaseOutcome::released);
  }
}

TEST_F(ZookeeperPitfallTest, Z21_WhoeverJustLeftCostsNobodyItsPlace) {
  const auto first = alice_.acquire({});
  const auto second = bob_.begin({.wait = 1min});
  // The holder goes between bob's look at the queue and his watch of it.
  ASSERT_TRUE(run_until([&] { return bob_.port->traffic->creates > 0; }, 1s));
  EXPECT_EQ(alice_.release(first->lease), ReleaseOutcome::released);
  EXPECT_TRUE(run_until([&] { return second->lease != nullptr; }, 2s));
  EXPECT_EQ(bob_.port->traffic->creates, 1);
}

TEST_F(ZookeeperPitfallTest, Z32_AReleaseTellsWhetherTheLockWasStillThere) {
  const auto taken = alice_.acquire({});
  erase(contenders().at(0));
  EXPECT_EQ(alice_.release(taken->lease), ReleaseOutcome::already_lost);
}

TEST_F(ZookeeperPitfallTest, WhoWaitsTakesAPlaceAnewWhenItsSessionEnds) {
  const auto first = alice_.acquire({});
  const auto second = bob_.begin({.wait = 5min});
  advance(1s);
  end_session(bob_);
  ASSERT_TRUE(run_until([&] { return contenders().size() == 2; }, 20s));
  EXPECT_EQ(alice_.release(first->lease), ReleaseOutcome::released);
  ASSERT_TRUE(run_until([&] { return second->lease != nullptr; }, 5s));
  EXPECT_TRUE(is_first(*second));
}

TEST_F(ZookeeperPitfallTest, NoLockIsGrantedOnANodeThatIsGone) {
  const auto first = alice_.acquire({});
  const auto second = bob_.begin({.wait = 5min});
  advance(1s);
  const auto before = contenders();
  ASSERT_EQ(before.size(), 2U);
  erase(before[1]);
  EXPECT_EQ(alice_.release(first->lease), ReleaseOutcome::released);
  ASSERT_TRUE(run_until([&] { return second->lease != nullptr; }, 5s));
  EXPECT_TRUE(is_first(*second));
}

}  // namespace
}  // namespace holdfast::zookeeper::testing
