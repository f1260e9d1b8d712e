#include "engines/zookeeper/zookeeper_engine.h"

#include <algorithm>

#include "engines/zookeeper/zookeeper_testing.h"

namespace holdfast::zookeeper::testing {
namespace {

constexpr core::Claim kShared{.mode = Mode::shared};

core::Claim permit(std::uint32_t permits) { return {.mode = Mode::permit, .permits = permits}; }

TEST_F(ZookeeperEngineTest, AFreeLockIsTakenInOneRoundTripAndGivenUpByOneRequest) {
  const auto first = alice_.acquire({});
  ASSERT_TRUE(first->lease);
  EXPECT_EQ(alice_.release(first->lease), ReleaseOutcome::released);
  const int before = alice_.port->traffic->requests;
  bed_.network.set_faults({.delay_min = 10ms, .delay_max = 10ms});
  const TimePoint began = bed_.scheduler.now();
  const auto taken = alice_.acquire({});
  ASSERT_TRUE(taken->lease);
  EXPECT_EQ(alice_.port->traffic->requests, before + 2);
  EXPECT_LT(bed_.scheduler.now() - began, 40ms) << "two would take longer";
  EXPECT_EQ(alice_.release(taken->lease), ReleaseOutcome::released);
  EXPECT_EQ(alice_.port->traffic->requests, before + 3);
  EXPECT_TRUE(contenders().empty());
}

TEST_F(ZookeeperEngineTest, TheTokenIsTheChangeThatCreatedItsNode) {
  const auto taken = alice_.acquire({});
  ASSERT_TRUE(taken->lease);
  const auto queue = contenders();
  ASSERT_EQ(queue.size(), 1U);
  const auto created = static_cast<std::uint64_t>(stat_of(queue[0]).created);
  EXPECT_EQ(taken->lease->held().token, Token{created});
}

TEST_F(ZookeeperEngineTest, TokensRiseFromHolderToHolder) {
  std::uint64_t last = 0;
  for (int i = 0; i < 5; ++i) {
    Locker& who = i % 2 == 0 ? alice_ : bob_;
    const auto taken = who.acquire({});
    ASSERT_TRUE(taken->lease);
    EXPECT_GT(taken->lease->held().token.value(), last);
    last = taken->lease->held().token.value();
    EXPECT_EQ(who.release(taken->lease), ReleaseOutcome::released);
    if (i == 2) bed_.ensemble.change_leader();
  }
}

TEST_F(ZookeeperEngineTest, SomebodyElsesLockIsBusyAndNothingIsLeftBehind) {
  ASSERT_TRUE(alice_.acquire({})->lease);
  const auto refused = bob_.acquire({});
  ASSERT_TRUE(refused->error);
  EXPECT_EQ(refused->error->code, Errc::busy);
  EXPECT_EQ(contenders().size(), 1U);
  EXPECT_TRUE(bob_.port->traffic->watched.empty());
}

TEST_F(ZookeeperEngineTest, ATtlIsAdjustedToWhatTheServersGrant) {
  EXPECT_EQ(alice_.acquire({.name = "short", .ttl = 300ms})->lease->ttl(), Duration{1s});
  EXPECT_EQ(alice_.acquire({.name = "long", .ttl = 1h})->lease->ttl(), Duration{10s});
  EXPECT_EQ(alice_.acquire({.name = "middle", .ttl = 2500ms})->lease->ttl(), Duration{2500ms});
  // Known by now: the same sessions serve them.
  EXPECT_EQ(alice_.acquire({.name = "a", .ttl = 700ms})->lease->ttl(), Duration{1s});
  EXPECT_EQ(alice_.acquire({.name = "b", .ttl = 1min})->lease->ttl(), Duration{10s});
  EXPECT_EQ(alice_.port->traffic->opened, 3);
}

TEST_F(ZookeeperEngineTest, ThousandsOfLocksAreKeptByOneRequestPerThirdOfTheTtl) {
  std::vector<std::shared_ptr<Locker::Outcome>> all;
  for (int i = 0; i < 2000; ++i) all.push_back(alice_.begin({.name = std::to_string(i)}));
  ASSERT_TRUE(run_until([&] { return all.back()->done(); }));
  advance(5s);
  const int before = alice_.port->traffic->requests;
  advance(30s);
  EXPECT_LE(alice_.port->traffic->requests - before, 10);
  for (const auto& taken : all) {
    ASSERT_TRUE(taken->lease);
    EXPECT_EQ(alice_.state(taken->lease), LeaseState::held);
    EXPECT_TRUE(taken->events.empty()) << "not in jeopardy, either";
  }
}

TEST_F(ZookeeperEngineTest, ASessionThatNothingNeedsIsClosed) {
  const auto taken = alice_.acquire({});
  EXPECT_EQ(alice_.release(taken->lease), ReleaseOutcome::released);
  advance(30s);
  EXPECT_EQ(alice_.port->traffic->closed, 0);
  advance(2min);
  EXPECT_EQ(alice_.port->traffic->closed, 1);
  const int quiet = alice_.port->traffic->requests;
  advance(10min);
  EXPECT_EQ(alice_.port->traffic->requests, quiet);
  EXPECT_TRUE(alice_.acquire({})->lease);
}

TEST_F(ZookeeperEngineTest, AGrantTellsWhetherOthersWereInTheWay) {
  const auto first = alice_.acquire({});
  ASSERT_TRUE(first->lease);
  EXPECT_EQ(first->lease->met(), core::Met::nobody);
  const auto second = bob_.begin({.wait = 1min});
  advance(1s);
  EXPECT_EQ(alice_.release(first->lease), ReleaseOutcome::released);
  ASSERT_TRUE(run_until([&] { return second->done(); }, 1s));
  ASSERT_TRUE(second->lease);
  EXPECT_EQ(second->lease->met(), core::Met::others);
}

TEST_F(ZookeeperEngineTest, WaitersAreServedInTheOrderOfTheirNodes) {
  const auto first = alice_.acquire({});
  const auto second = bob_.begin({.wait = 1min});
  advance(1s);
  Locker carol{bed_, settings_};
  const auto third = carol.begin({.wait = 1min});
  advance(1s);
  EXPECT_FALSE(second->done());
  EXPECT_EQ(alice_.release(first->lease), ReleaseOutcome::released);
  ASSERT_TRUE(run_until([&] { return second->done(); }, 1s));
  ASSERT_TRUE(second->lease);
  EXPECT_FALSE(third->done());
  EXPECT_EQ(bob_.release(second->lease), ReleaseOutcome::released);
  ASSERT_TRUE(run_until([&] { return third->done(); }, 1s));
  EXPECT_TRUE(third->lease);
}

TEST_F(ZookeeperEngineTest, AHandOverCostsTheNextOneLook) {
  const auto first = alice_.acquire({});
  const auto second = bob_.begin({.wait = 1min});
  advance(100ms);
  const int before = bob_.port->traffic->requests;
  EXPECT_EQ(alice_.release(first->lease), ReleaseOutcome::released);
  ASSERT_TRUE(run_until([&] { return second->done(); }, 1s));
  EXPECT_TRUE(second->lease);
  EXPECT_EQ(bob_.port->traffic->requests, before + 1);
}

TEST_F(ZookeeperEngineTest, WhoLeavesTheQueueWakesOneOther) {
  ASSERT_TRUE(alice_.acquire({})->lease);
  const auto second = bob_.begin({.wait = 1h});
  advance(1s);
  Locker carol{bed_, settings_};
  Locker dave{bed_, settings_};
  const auto third = carol.begin({.wait = 1h});
  advance(1s);
  const auto fourth = dave.begin({.wait = 1h});
  advance(1s);
  const int before = dave.port->traffic->requests - dave.port->traffic->beats;
  second->stop.request_stop();
  advance(2s);
  EXPECT_EQ(second->error->code, Errc::cancelled);
  EXPECT_EQ(dave.port->traffic->requests - dave.port->traffic->beats, before);
  EXPECT_FALSE(third->done() || fourth->done());
}

TEST_F(ZookeeperEngineTest, ReadersShareAndAWriterWaitsForAllOfThem) {
  const auto one = alice_.acquire({.claim = kShared});
  const auto other = bob_.acquire({.claim = kShared});
  ASSERT_TRUE(one->lease);
  ASSERT_TRUE(other->lease);
  Locker carol{bed_, settings_};
  const auto writer = carol.begin({.wait = 1min});
  advance(1s);
  Locker dave{bed_, settings_};
  const auto late = dave.begin({.wait = 1min, .claim = kShared});
  advance(1s);
  EXPECT_FALSE(late->done()) << "a waiting writer stops new readers";
  EXPECT_EQ(bob_.release(other->lease), ReleaseOutcome::released);
  advance(1s);
  EXPECT_FALSE(writer->done());
  EXPECT_EQ(alice_.release(one->lease), ReleaseOutcome::released);
  ASSERT_TRUE(run_until([&] { return writer->done(); }, 1s));
  ASSERT_TRUE(writer->lease);
  EXPECT_FALSE(late->done());
  EXPECT_EQ(carol.release(writer->lease), ReleaseOutcome::released);
  EXPECT_TRUE(run_until([&] { return late->lease != nullptr; }, 1s));
}

TEST_F(ZookeeperEngineTest, NoMoreThanSoManyHavePermits) {
  const auto one = alice_.acquire({.claim = permit(2)});
  const auto two = alice_.acquire({.claim = permit(2)});
  ASSERT_TRUE(one->lease);
  ASSERT_TRUE(two->lease);
  EXPECT_EQ(bob_.acquire({.claim = permit(2)})->error->code, Errc::busy);
  EXPECT_EQ(bob_.acquire({.claim = permit(3)})->error->code, Errc::invalid_argument);
  const auto third = bob_.begin({.wait = 1min, .claim = permit(2)});
  const auto fourth = bob_.begin({.wait = 1min, .claim = permit(2)});
  advance(1s);
  EXPECT_FALSE(third->done() || fourth->done());
  EXPECT_EQ(alice_.release(two->lease), ReleaseOutcome::released);
  advance(1s);
  EXPECT_TRUE(third->lease);
  EXPECT_FALSE(fourth->done());
  EXPECT_EQ(alice_.release(one->lease), ReleaseOutcome::released);
  EXPECT_TRUE(run_until([&] { return fourth->lease != nullptr; }, 1s));
}

TEST_F(ZookeeperEngineTest, WhoGivesUpWaitingLeavesTheQueue) {
  ASSERT_TRUE(alice_.acquire({})->lease);
  const auto patient = bob_.acquire({.wait = 2s});
  EXPECT_EQ(patient->error->code, Errc::timeout);
  const auto cancelled = bob_.begin({.wait = 1h});
  advance(1s);
  EXPECT_EQ(contenders().size(), 2U);
  cancelled->stop.request_stop();
  ASSERT_TRUE(run_until([&] { return cancelled->done(); }, 2s));
  EXPECT_EQ(cancelled->error->code, Errc::cancelled);
  EXPECT_EQ(contenders().size(), 1U);
}

TEST_F(ZookeeperEngineTest, WhoGivesUpWhileItsServersAreAwayLeavesTheQueueLater) {
  ASSERT_TRUE(alice_.acquire({})->lease);
  const auto cancelled = bob_.begin({.wait = 1h});
  advance(4s);
  bed_.cut_off(bob_.process);
  cancelled->stop.request_stop();
  ASSERT_TRUE(run_until([&] { return cancelled->done(); }, 10s));
  bed_.reconnect(bob_.process);
  EXPECT_TRUE(run_until([&] { return contenders().size() == 1; }, 20s));
}

TEST_F(ZookeeperEngineTest, AForeignContenderIsWaitedFor) {
  const auto gone = alice_.acquire({});
  EXPECT_EQ(alice_.release(gone->lease), ReleaseOutcome::released);
  const Answer made = ask(Create{.path = "/hf/ledger/_c_11111111-2222-3333-4444-555555555555-lock-",
                                 .kind = Create::Kind::ephemeral_sequential});
  EXPECT_EQ(alice_.acquire({})->error->code, Errc::busy);
  const auto waiting = alice_.begin({.wait = 1min, .claim = kShared});
  advance(1s);
  EXPECT_FALSE(waiting->done());
  ask(Erase{.path = made.path});
  EXPECT_TRUE(run_until([&] { return waiting->lease != nullptr; }, 1s));
}

TEST_F(ZookeeperEngineTest, WhatChangesInTheDataOfThePredecessorDoesNotMatter) {
  const auto first = alice_.acquire({});
  const auto second = bob_.begin({.wait = 1min});
  advance(1s);
  ask(Write{.path = path_of(contenders().at(0)), .data = "other"});
  advance(1s);
  EXPECT_FALSE(second->done());
  EXPECT_EQ(alice_.release(first->lease), ReleaseOutcome::released);
  EXPECT_TRUE(run_until([&] { return second->lease != nullptr; }, 1s));
}

TEST_F(ZookeeperEngineTest, LockDelayIsRefused) {
  const core::LockRequest request{.name = LockName{"ledger"},
                                  .owner = alice_.process.env.fresh_owner(),
                                  .ttl = 10s,
                                  .lock_delay = 1s};
  const auto refused = alice_.wait_for(alice_.engine->acquire(request, alice_.soon(), {}));
  EXPECT_EQ(refused.error().code, Errc::unsupported);
}

TEST_F(ZookeeperEngineTest, WithoutAnAnswerTheLockIsUnavailableInTime) {
  bed_.cut_off(alice_.process);
  const TimePoint before = bed_.scheduler.now();
  const auto refused = alice_.acquire({.wait = 1h});
  ASSERT_TRUE(refused->error);
  EXPECT_TRUE(refused->error->code == Errc::unavailable ||
              refused->error->code == Errc::unknown_outcome);
  EXPECT_LE(bed_.scheduler.now() - before, settings_.patience + settings_.timeout);
}

TEST_F(ZookeeperEngineTest, RenewedByHandALeaseLastsItsTtlFromThen) {
  const auto taken = alice_.acquire({});
  advance(1s);
  const TimePoint before = taken->lease->valid_until();
  const auto renewed = alice_.wait_for(core::SessionKeeper::renew(taken->lease, alice_.soon()));
  ASSERT_TRUE(renewed);
  EXPECT_GE(taken->lease->valid_until(), before + 1s);
  EXPECT_EQ(alice_.port->traffic->resumed, 1) << "only a connection is sure to be heard of";
  advance(1min);
  EXPECT_EQ(alice_.state(taken->lease), LeaseState::held);
}

}  // namespace
}  // namespace holdfast::zookeeper::testing
