#include "engines/etcd/etcd_engine.h"

#include <set>

#include "engines/etcd/etcd_testing.h"

namespace holdfast::etcd::testing {
namespace {

constexpr core::Claim kShared{.mode = Mode::shared};

core::Claim permit(std::uint32_t permits) { return {.mode = Mode::permit, .permits = permits}; }

TEST_F(EtcdEngineTest, AFreeLockIsTakenWithOneTransaction) {
  ASSERT_TRUE(alice_.acquire({.name = "first"})->lease);
  EXPECT_EQ(alice_.port->grants, 1);
  const int before = alice_.port->requests();
  const auto taken = alice_.acquire({});
  ASSERT_TRUE(taken->lease);
  EXPECT_EQ(alice_.port->requests(), before + 1);
  EXPECT_EQ(alice_.release(taken->lease), ReleaseOutcome::released);
  EXPECT_EQ(alice_.port->requests(), before + 2);
  EXPECT_TRUE(contenders().empty());
}

TEST_F(EtcdEngineTest, TheTokenIsTheRevisionAtWhichItsKeyWasCreated) {
  const auto taken = alice_.acquire({});
  ASSERT_TRUE(taken->lease);
  const auto keys = contenders();
  ASSERT_EQ(keys.size(), 1U);
  EXPECT_EQ(taken->lease->held().token, Token{static_cast<std::uint64_t>(keys[0].created)});
}

TEST_F(EtcdEngineTest, TokensRiseFromHolderToHolder) {
  std::uint64_t last = 0;
  for (int i = 0; i < 5; ++i) {
    Locker& who = i % 2 == 0 ? alice_ : bob_;
    const auto taken = who.acquire({});
    ASSERT_TRUE(taken->lease);
    EXPECT_GT(taken->lease->held().token.value(), last);
    last = taken->lease->held().token.value();
    EXPECT_EQ(who.release(taken->lease), ReleaseOutcome::released);
  }
}

TEST_F(EtcdEngineTest, SomebodyElsesLockIsBusyAndNothingIsLeftBehind) {
  ASSERT_TRUE(alice_.acquire({})->lease);
  const auto refused = bob_.acquire({});
  ASSERT_TRUE(refused->error);
  EXPECT_EQ(refused->error->code, Errc::busy);
  EXPECT_EQ(contenders().size(), 1U);
}

TEST_F(EtcdEngineTest, ATtlIsRaisedToWhatTheServerGives) {
  const auto taken = alice_.acquire({.ttl = 300ms});
  ASSERT_TRUE(taken->lease);
  EXPECT_EQ(taken->lease->ttl(), Duration{2s});
  const auto half = alice_.acquire({.name = "half", .ttl = 2500ms});
  EXPECT_EQ(half->lease->ttl(), Duration{3s});
  // Known by now: the same session serves it.
  EXPECT_EQ(alice_.acquire({.name = "other", .ttl = 1s})->lease->ttl(), Duration{2s});
  EXPECT_EQ(alice_.port->grants, 2);
}

TEST_F(EtcdEngineTest, ThousandsOfLocksAreKeptByOneRequestPerThirdOfTheTtl) {
  std::vector<std::shared_ptr<Locker::Outcome>> all;
  for (int i = 0; i < 2000; ++i) all.push_back(alice_.begin({.name = std::to_string(i)}));
  ASSERT_TRUE(run_until([&] { return all.back()->done(); }));
  advance(5s);
  const int before = alice_.port->keep_alives;
  const int others = alice_.port->requests() - before;
  advance(30s);
  EXPECT_LE(alice_.port->keep_alives - before, 10);
  EXPECT_EQ(alice_.port->requests() - alice_.port->keep_alives, others);
  for (const auto& taken : all) EXPECT_EQ(alice_.state(taken->lease), LeaseState::held);
}

TEST_F(EtcdEngineTest, ALeaseThatNothingNeedsIsGivenUp) {
  const auto taken = alice_.acquire({});
  EXPECT_EQ(alice_.release(taken->lease), ReleaseOutcome::released);
  advance(30s);
  EXPECT_EQ(alice_.port->revokes, 0);
  advance(2min);
  EXPECT_EQ(alice_.port->revokes, 1);
  const int quiet = alice_.port->requests();
  advance(10min);
  EXPECT_EQ(alice_.port->requests(), quiet);
  EXPECT_TRUE(alice_.acquire({})->lease);
}

TEST_F(EtcdEngineTest, AGrantTellsWhetherOthersWereInTheWay) {
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

TEST_F(EtcdEngineTest, WaitersAreServedInTheOrderOfTheirKeys) {
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

TEST_F(EtcdEngineTest, AHandOverCostsTheNextOneTransaction) {
  const auto first = alice_.acquire({});
  const auto second = bob_.begin({.wait = 1min});
  advance(100ms);
  const int before = bob_.port->requests();
  EXPECT_EQ(alice_.release(first->lease), ReleaseOutcome::released);
  ASSERT_TRUE(run_until([&] { return second->done(); }, 1s));
  EXPECT_TRUE(second->lease);
  EXPECT_EQ(bob_.port->requests(), before + 1);
}

TEST_F(EtcdEngineTest, AThousandWhoWaitAskNothingWhileNothingChanges) {
  const auto writer = alice_.acquire({});
  std::vector<std::shared_ptr<Locker::Outcome>> all;
  for (int i = 0; i < 1000; ++i) all.push_back(bob_.begin({.wait = 1h, .claim = kShared}));
  advance(3s);
  const int before = bob_.port->requests() - bob_.port->keep_alives;
  const int kept = bob_.port->keep_alives;
  advance(20s);
  EXPECT_EQ(bob_.port->requests() - bob_.port->keep_alives, before);
  EXPECT_LE(bob_.port->keep_alives - kept, 6);
  EXPECT_EQ(alice_.release(writer->lease), ReleaseOutcome::released);
  ASSERT_TRUE(run_until(
      [&] { return std::ranges::all_of(all, [](const auto& one) { return one->done(); }); }));
  for (const auto& one : all) EXPECT_TRUE(one->lease);
}

// Each of them waits for others, and all of them watch the same keys.
TEST_F(EtcdEngineTest, HundredsWhoWaitForPermitsLookTogetherNowAndThen) {
  ASSERT_TRUE(alice_.acquire({.claim = permit(2)})->lease);
  const auto last = alice_.acquire({.claim = permit(2)});
  std::vector<std::shared_ptr<Locker::Outcome>> all;
  for (int i = 0; i < 300; ++i) all.push_back(bob_.begin({.wait = 1h, .claim = permit(2)}));
  advance(3s);
  const int before = bob_.port->commits;
  advance(3 * settings_.look_again);
  EXPECT_LE(bob_.port->commits - before, 3);
  // What was missed is seen by the next look.
  bob_.port->deaf = true;
  EXPECT_EQ(alice_.release(last->lease), ReleaseOutcome::released);
  EXPECT_TRUE(run_until(
      [&] { return std::ranges::any_of(all, [](const auto& one) { return one->done(); }); },
      settings_.look_again + 2s));
}

TEST_F(EtcdEngineTest, AfterAnInterruptionOneRequestLooksAtManyLocks) {
  std::vector<std::shared_ptr<Locker::Outcome>> all;
  for (int i = 0; i < 100; ++i) {
    all.push_back(alice_.begin({.name = std::to_string(i), .ttl = 1min}));
  }
  advance(5s);
  bed_.cut_off(alice_.process);
  advance(3s);
  const int before = alice_.port->commits;
  bed_.reconnect(alice_.process);
  advance(10s);
  EXPECT_GE(alice_.port->commits - before, 1);
  EXPECT_LE(alice_.port->commits - before, 3);
  for (const auto& taken : all) EXPECT_EQ(alice_.state(taken->lease), LeaseState::held);
}

TEST_F(EtcdEngineTest, ReadersShareAndAWriterWaitsForAllOfThem) {
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

TEST_F(EtcdEngineTest, NoMoreThanSoManyHavePermits) {
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

TEST_F(EtcdEngineTest, WhoGivesUpWaitingLeavesTheQueue) {
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

TEST_F(EtcdEngineTest, AForeignContenderIsWaitedFor) {
  put("hf/ledger/694d71ddacfda227");
  EXPECT_EQ(alice_.acquire({})->error->code, Errc::busy);
  const auto waiting = alice_.begin({.wait = 1min, .claim = kShared});
  advance(1s);
  EXPECT_FALSE(waiting->done());
  erase("hf/ledger/694d71ddacfda227");
  EXPECT_TRUE(run_until([&] { return waiting->lease != nullptr; }, 1s));
}

TEST_F(EtcdEngineTest, NothingIsWatchedThatIsOver) {
  const auto first = alice_.acquire({});
  const auto second = bob_.begin({.wait = 1min});
  advance(20s);
  EXPECT_EQ(alice_.port->watching.size(), 1U) << "its own key";
  EXPECT_EQ(bob_.port->watching.size(), 2U) << "its own key and the one before";
  EXPECT_EQ(alice_.release(first->lease), ReleaseOutcome::released);
  ASSERT_TRUE(run_until([&] { return second->lease != nullptr; }));
  EXPECT_TRUE(alice_.port->watching.empty());
  EXPECT_EQ(bob_.port->watching.size(), 1U);
  EXPECT_EQ(bob_.release(second->lease), ReleaseOutcome::released);
  EXPECT_TRUE(bob_.port->watching.empty());
}

TEST_F(EtcdEngineTest, LockDelayIsRefused) {
  const core::LockRequest request{.name = LockName{"ledger"},
                                  .owner = alice_.process.env.fresh_owner(),
                                  .ttl = 10s,
                                  .lock_delay = 1s};
  const auto refused = alice_.wait_for(alice_.engine->acquire(request, alice_.soon(), {}));
  EXPECT_EQ(refused.error().code, Errc::unsupported);
}

TEST_F(EtcdEngineTest, WithoutAnAnswerTheLockIsUnavailableInTime) {
  bed_.cut_off(alice_.process);
  const TimePoint before = bed_.scheduler.now();
  const auto refused = alice_.acquire({.wait = 1h});
  ASSERT_TRUE(refused->error);
  EXPECT_TRUE(refused->error->code == Errc::unavailable ||
              refused->error->code == Errc::unknown_outcome);
  EXPECT_LE(bed_.scheduler.now() - before, settings_.patience + settings_.timeout);
}

}  // namespace
}  // namespace holdfast::etcd::testing
