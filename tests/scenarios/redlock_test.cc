// Redlock with tokens: scripted stories on a few nodes.

#include <gtest/gtest.h>

#include "sim/protocol.h"
#include "sim/world/world.h"

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;

WorldOptions redlock_on(std::size_t nodes) {
  return {.engine =
              [](Env& env, Ports ports) {
                return find_protocol("redlock")->make(env, std::move(ports), Pace{});
              },
          .nodes = nodes,
          .prepare = find_protocol("redlock")->prepare};
}

TEST(RedlockTest, TokensRiseFromHolderToHolder) {
  World world{1, redlock_on(5)};
  const ClientId clients[] = {world.add_client("alice"), world.add_client("bob")};
  Token last{0};
  for (std::size_t round = 0; round < 6; ++round) {
    const ClientId client = clients[round % 2];
    const LeaseView lease = world.must_acquire(client, "ledger", 10s);
    EXPECT_GT(lease.token(), last);
    last = lease.token();
    EXPECT_EQ(world.release(client, lease), ReleaseOutcome::released);
  }
}

TEST(RedlockTest, NodesThatAgreeNeedOneRoundTrip) {
  World world{2, redlock_on(3)};
  const ClientId alice = world.add_client("alice");
  for (std::size_t node = 0; node < 3; ++node) world.node(node).record_executions();
  world.must_acquire(alice, "ledger", 10s);
  world.advance(100ms);
  for (std::size_t node = 0; node < 3; ++node) {
    ASSERT_EQ(world.node(node).executions().size(), 1U);
    EXPECT_EQ(world.node(node).executions()[0].call.script->name, "redlock-take");
  }
}

TEST(RedlockTest, TwoOfFiveNodesMayBeDown) {
  World world{3, redlock_on(5)};
  const ClientId alice = world.add_client("alice");
  const ClientId bob = world.add_client("bob");
  world.stop_node(1);
  world.stop_node(4);
  world.must_acquire(alice, "ledger", 10s);
  const Acquired refused = world.acquire(bob, "ledger", 10s);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::busy);
  EXPECT_TRUE(refused.error().holder.has_value());
}

TEST(RedlockTest, ThreeOfFiveNodesDownIsUnavailableAndLeavesNothing) {
  World world{4, redlock_on(5)};
  const ClientId alice = world.add_client("alice");
  for (const std::size_t node : {0, 1, 2}) world.stop_node(node);
  const Acquired refused = world.acquire(alice, "ledger", 10s);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::unavailable);
  EXPECT_EQ(refused.error().nodes.size(), 3U);
  world.advance(1s);
  for (const std::size_t node : {3, 4}) {
    EXPECT_EQ(world.node(node).get("hf:ledger"), std::nullopt);
  }
}

// The release that a failed attempt sends may be lost too; it is sent again.
TEST(RedlockTest, WhatAFailedAttemptTookIsGivenBackThroughALossyNetwork) {
  World world{5, redlock_on(3)};
  const ClientId alice = world.add_client("alice");
  world.cut(world.client_host(alice), world.node_host(0));
  world.cut(world.client_host(alice), world.node_host(1));
  const auto refused = world.start_acquire(alice, "ledger", 10s);
  world.advance(50ms);
  ASSERT_NE(world.node(2).get("hf:ledger"), std::nullopt);
  world.network().way(world.client_host(alice), world.node_host(2)).lose_next = 3;
  world.advance(9s);
  ASSERT_TRUE(refused->has_value());
  EXPECT_FALSE(**refused);
  EXPECT_EQ(world.node(2).get("hf:ledger"), std::nullopt);
}

// The nodes a holder was granted on and those the next one finds are never the same; the one they
// share carries the token over.
TEST(RedlockTest, TokensRiseAcrossMajoritiesThatShareOneNode) {
  World world{6, redlock_on(3)};
  const ClientId alice = world.add_client("alice");
  Token last{0};
  for (int round = 0; round < 8; ++round) {
    const std::size_t down = round % 2 == 0 ? 2 : 0;
    world.stop_node(down);
    const LeaseView lease = world.must_acquire(alice, "ledger", 10s);
    EXPECT_GT(lease.token(), last);
    last = lease.token();
    world.start_node(down);
    EXPECT_EQ(world.release(alice, lease), ReleaseOutcome::released);
  }
}

TEST(RedlockTest, ALeaseIsGoneWhenAMajorityForgotIt) {
  World world{7, redlock_on(3)};
  const ClientId alice = world.add_client("alice");
  const LeaseView lease = world.must_acquire(alice, "ledger", 10s);
  world.node(0).command({"DEL", "hf:ledger"});
  world.advance(5s);
  EXPECT_EQ(lease.state(), LeaseState::held) << "two of three still have it";
  world.node(1).command({"DEL", "hf:ledger"});
  world.advance(5s);
  EXPECT_EQ(lease.state(), LeaseState::lost);
  EXPECT_EQ(lease.loss_reason(), LossReason::gone);
  EXPECT_EQ(world.node(0).get("hf:ledger"), std::nullopt) << "a renewal never brings it back";
}

// Goal: what cannot be learnt about one lease does not cost another one.
// Method: of three nodes one is down, and one of two locks is gone from a second.
TEST(RedlockTest, ALeaseIsRenewedWhateverBecomesOfAnother) {
  World world{9, redlock_on(3)};
  const ClientId alice = world.add_client("alice");
  const LeaseView ledger = world.must_acquire(alice, "ledger", 10s);
  const LeaseView report = world.must_acquire(alice, "report", 10s);
  world.stop_node(2);
  world.node(1).command({"DEL", "hf:report"});
  world.advance(30s);
  EXPECT_EQ(ledger.state(), LeaseState::held);
  EXPECT_EQ(report.state(), LeaseState::lost);
}

TEST(RedlockTest, ALeaseThatNoMajorityRenewsIsLostAtItsDeadline) {
  World world{8, redlock_on(3)};
  const ClientId alice = world.add_client("alice");
  const LeaseView lease = world.must_acquire(alice, "ledger", 10s);
  world.stop_node(0);
  world.stop_node(1);
  world.advance(11s);
  EXPECT_EQ(lease.loss_reason(), LossReason::expired);
}

}  // namespace
}  // namespace holdfast::sim
