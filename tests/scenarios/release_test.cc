// Giving a lock up, and what can be known about it afterwards.

#include <gtest/gtest.h>

#include "sim/world/world.h"

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;

class ReleaseTest : public testing::Test {
 protected:
  ReleaseTest() { world_.node().record_executions(); }

  World world_{/*seed=*/13};
  ClientId alice_ = world_.add_client("alice");
  ClientId bob_ = world_.add_client("bob");
  LeaseView lease_ = world_.must_acquire(alice_, "ledger", 10s);
};

TEST_F(ReleaseTest, TheNextOneGetsTheLockAtOnce) {
  EXPECT_EQ(world_.release(alice_, lease_), ReleaseOutcome::released);
  EXPECT_EQ(lease_.state(), LeaseState::released);
  EXPECT_GT(world_.must_acquire(bob_, "ledger", 10s).token(), lease_.token());
}

TEST_F(ReleaseTest, ReleasingAgainChangesNothing) {
  EXPECT_EQ(world_.release(alice_, lease_), ReleaseOutcome::released);
  const LeaseView next = world_.must_acquire(bob_, "ledger", 10s);
  EXPECT_EQ(world_.release(alice_, lease_), ReleaseOutcome::released);
  world_.advance(30s);
  EXPECT_EQ(next.state(), LeaseState::held);
}

// The first request removed the key; the second finds nothing and knows why.
TEST_F(ReleaseTest, ALostAnswerIsSettledAsReleased) {
  world_.lose_next_replies(alice_, 1);
  EXPECT_EQ(world_.release(alice_, lease_), ReleaseOutcome::released);
}

TEST_F(ReleaseTest, ALostRequestIsRepeated) {
  world_.lose_next_requests(alice_, 2);
  EXPECT_EQ(world_.release(alice_, lease_), ReleaseOutcome::released);
  EXPECT_EQ(world_.node().get("hf:ledger"), std::nullopt);
}

TEST_F(ReleaseTest, WithoutAnyAnswerTheOutcomeIsUnknown) {
  world_.cut_off(alice_);
  EXPECT_EQ(world_.release(alice_, lease_), ReleaseOutcome::unknown);
  world_.advance(10s);
  world_.must_acquire(bob_, "ledger", 10s);
}

TEST_F(ReleaseTest, ALeaseThatRanOutWasAlreadyLost) {
  world_.pause(alice_);
  world_.advance(11s);
  const LeaseView next = world_.must_acquire(bob_, "ledger", 10s);
  world_.resume(alice_);
  EXPECT_EQ(world_.release(alice_, lease_), ReleaseOutcome::already_lost);
  world_.advance(30s);
  EXPECT_EQ(next.state(), LeaseState::held);
}

TEST_F(ReleaseTest, ALeaseTheServerForgotWasAlreadyLost) {
  world_.node().command({"DEL", "hf:ledger"});
  EXPECT_EQ(world_.release(alice_, lease_), ReleaseOutcome::already_lost);
}

// A renewal overtakes the release on its way and arrives after it.
TEST_F(ReleaseTest, ARenewalUnderWayDoesNotBringTheLockBack) {
  world_.set_faults({.delay_min = 1s, .delay_max = 1s});
  world_.advance(3334ms);
  world_.set_faults({.delay_min = 1ms, .delay_max = 1ms});
  EXPECT_EQ(world_.release(alice_, lease_), ReleaseOutcome::released);
  world_.advance(5s);
  ASSERT_EQ(world_.node().executions().back().call.script->name, "renew");
  EXPECT_EQ(world_.node().get("hf:ledger"), std::nullopt);
  EXPECT_TRUE(lease_.heard().empty());
}

}  // namespace
}  // namespace holdfast::sim
