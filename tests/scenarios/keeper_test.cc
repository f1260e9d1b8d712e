// The life of a lease at a Redis: renewal, jeopardy, loss.

#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "core/validity.h"
#include "sim/world/world.h"

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;

class KeeperTest : public testing::Test {
 protected:
  KeeperTest() { world_.node().record_executions(); }

  std::vector<LeaseState> states(const LeaseView& lease) const {
    std::vector<LeaseState> states;
    for (const auto& heard : lease.heard()) states.push_back(heard.event.state);
    return states;
  }

  using States = std::vector<LeaseState>;
  World world_{/*seed=*/7};
  ClientId alice_ = world_.add_client("alice");
  ClientId bob_ = world_.add_client("bob");
};

TEST_F(KeeperTest, ALeaseLivesForManyTtlsWhileItsHolderRuns) {
  const LeaseView lease = world_.must_acquire(alice_, "ledger", 10s);
  for (int i = 0; i < 100; ++i) {
    world_.advance(9s);
    EXPECT_EQ(lease.state(), LeaseState::held);
    EXPECT_EQ(world_.acquire(bob_, "ledger", 10s).error().code, Errc::busy);
  }
  EXPECT_TRUE(lease.heard().empty());
}

// Method: count what the server was asked while nothing else happens.
TEST_F(KeeperTest, RenewalCostsTheSameForOneLockAsForMany) {
  for (int i = 0; i < 20; ++i) world_.must_acquire(alice_, "lock" + std::to_string(i), 9s);
  world_.advance(9s);
  const std::size_t before = world_.node().executions().size();
  world_.advance(90s);
  const std::span since = std::span{world_.node().executions()}.subspan(before);
  const auto looks = std::ranges::count_if(
      since, [](const Execution& execution) { return execution.call.script->name == "signs"; });
  const std::ptrdiff_t renewals = std::ssize(since) - looks;
  EXPECT_GE(renewals, 29);
  EXPECT_LE(renewals, 31);
  EXPECT_LE(looks, 9) << "now and then at the server itself";
}

TEST_F(KeeperTest, ACutOffHolderIsInJeopardyThenLosesBeforeAnybodyElseIsGranted) {
  const LeaseView lease = world_.must_acquire(alice_, "ledger", 9s);
  world_.cut_off(alice_);
  world_.advance(6s);
  EXPECT_EQ(lease.state(), LeaseState::jeopardy);
  EXPECT_EQ(world_.acquire(bob_, "ledger", 9s).error().code, Errc::busy);
  world_.advance(4s);
  EXPECT_EQ(states(lease), (States{LeaseState::jeopardy, LeaseState::lost}));
  EXPECT_EQ(lease.loss_reason(), LossReason::expired);
  EXPECT_EQ(lease.heard().back().when, lease.valid_until());

  const LeaseView next = world_.must_acquire(bob_, "ledger", 9s);
  EXPECT_GT(next.token(), lease.token());
}

// Goal: the deadline leaves no gap in the other direction either.
// Method: bob asks without pause from before alice's deadline; every refusal and the grant are
// compared with it.
TEST_F(KeeperTest, NobodyIsGrantedTheLockBeforeTheHoldersDeadline) {
  const LeaseView lease = world_.must_acquire(alice_, "ledger", 2s);
  world_.cut_off(alice_);
  Acquired next = world_.acquire(bob_, "ledger", 2s);
  while (!next) {
    ASSERT_EQ(next.error().code, Errc::busy);
    next = world_.acquire(bob_, "ledger", 2s);
  }
  EXPECT_EQ(lease.state(), LeaseState::lost);
  EXPECT_LE(lease.heard().back().when, world_.now());
  EXPECT_LT(world_.now(), lease.valid_until() + core::drift_allowance(2s) + 10ms);
}

TEST_F(KeeperTest, AHolderThatComesBackInTimeHoldsAgain) {
  const LeaseView lease = world_.must_acquire(alice_, "ledger", 9s);
  world_.cut_off(alice_);
  world_.advance(7s);
  world_.reconnect(alice_);
  world_.advance(30s);
  EXPECT_EQ(states(lease), (States{LeaseState::jeopardy, LeaseState::held}));
  EXPECT_EQ(world_.acquire(bob_, "ledger", 9s).error().code, Errc::busy);
}

TEST_F(KeeperTest, OneLostRenewalIsNotEvenJeopardy) {
  const LeaseView lease = world_.must_acquire(alice_, "ledger", 9s);
  world_.lose_next_requests(alice_, 1);
  world_.advance(20s);
  world_.lose_next_replies(alice_, 1);
  world_.advance(60s);
  EXPECT_EQ(lease.state(), LeaseState::held);
  EXPECT_TRUE(lease.heard().empty());
}

TEST_F(KeeperTest, ARenewalCountsFromWhenItWasSentNotFromItsAnswer) {
  // From a first lease on a process listens, and asks once whether it is too late.
  world_.release(alice_, world_.must_acquire(alice_, "other", 9s));
  world_.advance(1s);
  const TimePoint start = world_.now();
  const LeaseView lease = world_.must_acquire(alice_, "ledger", 9s);
  EXPECT_EQ(lease.valid_until(), core::deadline_of(start, 9s));
  world_.set_faults({.delay_min = 400ms, .delay_max = 400ms});
  world_.advance(3s + 900ms);
  EXPECT_EQ(lease.valid_until(), core::deadline_of(start + 3s, 9s));
}

TEST_F(KeeperTest, APausedHolderFindsItsLeaseLostWhenItWakes) {
  const LeaseView lease = world_.must_acquire(alice_, "ledger", 10s);
  world_.pause(alice_);
  world_.advance(10s + 1ms);
  const LeaseView next = world_.must_acquire(bob_, "ledger", 10s);
  EXPECT_EQ(lease.state(), LeaseState::lost);
  EXPECT_TRUE(lease.heard().empty());

  world_.resume(alice_);
  world_.advance(0s);
  EXPECT_EQ(states(lease), States{LeaseState::lost});
  EXPECT_EQ(lease.loss_reason(), LossReason::expired);
  world_.advance(60s);
  EXPECT_EQ(next.state(), LeaseState::held);
}

TEST_F(KeeperTest, AShortPauseIsSurvived) {
  const LeaseView lease = world_.must_acquire(alice_, "ledger", 10s);
  world_.pause(alice_);
  world_.advance(5s);
  world_.resume(alice_);
  world_.advance(60s);
  EXPECT_EQ(lease.state(), LeaseState::held);
}

// The server renewed, its answer lies in the paused client's socket, and the deadline passes.
TEST_F(KeeperTest, ARenewalAnsweredDuringAPauseDoesNotReviveTheLease) {
  const LeaseView lease = world_.must_acquire(alice_, "ledger", 9s);
  world_.set_faults({.delay_min = 500ms, .delay_max = 500ms});
  world_.advance(3s + 100ms);
  world_.pause(alice_);
  world_.advance(7s);
  ASSERT_EQ(world_.node().executions().back().call.script->name, "renew");
  EXPECT_EQ(lease.state(), LeaseState::lost);
  world_.resume(alice_);
  world_.advance(2s);
  EXPECT_EQ(lease.state(), LeaseState::lost);
  // What is left of it at the server is released at once, not at the end of the TTL.
  EXPECT_EQ(world_.node().get("hf:ledger"), std::nullopt);
}

// Goal: a renewal that finds nothing must not make something.
// Method: an operator deletes the key under the holder.
TEST_F(KeeperTest, RenewalNeverRecreatesALockThatIsGone) {
  const LeaseView lease = world_.must_acquire(alice_, "ledger", 9s);
  world_.node().command({"DEL", "hf:ledger"});
  world_.advance(60s);
  EXPECT_EQ(lease.state(), LeaseState::lost);
  EXPECT_EQ(lease.loss_reason(), LossReason::gone);
  EXPECT_EQ(world_.node().get("hf:ledger"), std::nullopt);
}

TEST_F(KeeperTest, RenewalDoesNotTouchTheLockOfItsSuccessor) {
  const LeaseView lease = world_.must_acquire(alice_, "ledger", 9s);
  world_.node().command({"DEL", "hf:ledger"});
  const LeaseView next = world_.must_acquire(bob_, "ledger", 60s);
  world_.advance(4s);
  EXPECT_EQ(lease.loss_reason(), LossReason::gone);
  const redis::Reply left = world_.node().command({"PTTL", "hf:ledger"});
  EXPECT_GT(left.integer, 50'000);
  EXPECT_EQ(next.state(), LeaseState::held);
}

TEST_F(KeeperTest, AKilledHolderIsSucceededWhenItsTtlHasPassed) {
  const LeaseView lease = world_.must_acquire(alice_, "ledger", 9s);
  world_.kill(alice_);
  EXPECT_EQ(world_.acquire(bob_, "ledger", 9s).error().code, Errc::busy);
  world_.advance(9s + 1ms);
  EXPECT_GT(world_.must_acquire(bob_, "ledger", 9s).token(), lease.token());
}

TEST_F(KeeperTest, LeasesWithDifferentTtlsLiveSideBySide) {
  const LeaseView quick = world_.must_acquire(alice_, "quick", 1s);
  const LeaseView slow = world_.must_acquire(alice_, "slow", 60s);
  world_.advance(10s);
  EXPECT_EQ(quick.state(), LeaseState::held);
  world_.cut_off(alice_);
  world_.advance(2s);
  EXPECT_EQ(quick.state(), LeaseState::lost);
  EXPECT_EQ(slow.state(), LeaseState::held);
}

}  // namespace
}  // namespace holdfast::sim
