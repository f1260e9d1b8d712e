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
  world.node(0).record_executions();
  world.node(0).command({"DEL", "hf:ledger"});
  world.node(1).command({"DEL", "hf:ledger"});
  world.advance(5s);
  EXPECT_EQ(lease.state(), LeaseState::lost);
  EXPECT_EQ(lease.loss_reason(), LossReason::gone);
  EXPECT_EQ(world.node(0).get("hf:ledger"), std::nullopt) << "a renewal never brings it back";
  for (const Execution& execution : world.node(0).executions()) {
    EXPECT_NE(execution.call.script->name, "redlock-repair") << "without a majority";
  }
}

TEST(RedlockTest, ANodeThatLacksTheLockIsGivenItAgainByRenewal) {
  World world{10, redlock_on(3)};
  const ClientId alice = world.add_client("alice");
  const ClientId bob = world.add_client("bob");
  const LeaseView lease = world.must_acquire(alice, "ledger", 10s);
  world.node(0).command({"DEL", "hf:ledger"});
  world.advance(5s);
  EXPECT_NE(world.node(0).get("hf:ledger"), std::nullopt);
  // It makes up a majority with the next one, when another node has forgotten.
  world.node(1).command({"DEL", "hf:ledger"});
  EXPECT_EQ(world.acquire(bob, "ledger", 10s).error().code, Errc::busy);
  world.advance(5s);
  EXPECT_EQ(lease.state(), LeaseState::held);
  EXPECT_EQ(world.release(alice, lease), ReleaseOutcome::released);
  world.advance(100ms);
  for (std::size_t node = 0; node < 3; ++node) {
    EXPECT_EQ(world.node(node).get("hf:ledger"), std::nullopt);
  }
  EXPECT_GT(world.must_acquire(bob, "ledger", 10s).token(), lease.token());
}

// Goal: a repair that overtakes the release leaves nothing behind.
// Method: the request to the node is on its way when the lease is given up, and arrives last.
TEST(RedlockTest, ARepairThatComesAfterTheReleaseIsUndone) {
  World world{11, redlock_on(3)};
  const ClientId alice = world.add_client("alice");
  const LeaseView lease = world.must_acquire(alice, "ledger", 10s);
  world.node(0).command({"DEL", "hf:ledger"});
  world.node(0).record_executions();
  const auto repairs = [&] {
    std::size_t count = 0;
    for (const Execution& execution : world.node(0).executions()) {
      count += execution.call.script->name == "redlock-repair" ? 1 : 0;
    }
    return count;
  };
  ASSERT_TRUE(world.scheduler().run_until([&] { return repairs() > 0; }, 10s));
  // Its answer is still under way.
  const auto released = world.start_release(alice, lease);
  world.node(0).command({"SET", "hf:ledger", *world.node(0).get("hf:ledger"), "PX", "60000"});
  world.advance(2s);
  ASSERT_TRUE(released->has_value());
  EXPECT_EQ(world.node(0).get("hf:ledger"), std::nullopt);
}

// A node that has lost its data has lost its counter: it must not lend its vote to anybody.
TEST(RedlockTest, ANodeThatLostItsDataGivesNothing) {
  World world{12, redlock_on(3)};
  const ClientId alice = world.add_client("alice");
  world.stop_node(2);
  world.must_acquire(alice, "ledger", 10s);
  world.stop_node(0);
  world.stop_node(1);
  world.start_node(1, Data::lost);
  world.start_node(2);
  const ClientId bob = world.add_client("bob");
  const Acquired refused = world.acquire(bob, "ledger", 10s);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::unavailable);
  ASSERT_EQ(refused.error().nodes.size(), 2U);
  EXPECT_NE(refused.error().nodes[1].message.find("lost its data"), std::string::npos);
}

TEST(RedlockTest, AReleaseCallsOneWhoWaits) {
  World world{13, redlock_on(5)};
  const ClientId alice = world.add_client("alice");
  const ClientId bob = world.add_client("bob");
  const LeaseView lease = world.must_acquire(alice, "ledger", 10s);
  const auto granted = world.start_acquire(bob, "ledger", 10s, 60s);
  world.advance(3s);
  ASSERT_FALSE(granted->has_value());
  world.release(alice, lease);
  world.advance(50ms);
  ASSERT_TRUE(granted->has_value()) << "it would look again later";
  EXPECT_TRUE(**granted);
}

TEST(RedlockTest, AnEvenNumberOfNodesNeverHangsOnATie) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    World world{seed, redlock_on(4)};
    const ClientId clients[] = {world.add_client("alice"), world.add_client("bob")};
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::size_t node = 0; node < 4; ++node) {
        // Each is nearer to one half of the nodes.
        if (node / 2 == i) continue;
        world.network().way(world.client_host(clients[i]), world.node_host(node)).lose_next = 1;
      }
    }
    const auto first = world.start_acquire(clients[0], "ledger", 10s, 30s);
    const auto second = world.start_acquire(clients[1], "ledger", 10s, 30s);
    world.advance(8s);
    EXPECT_TRUE(first->has_value() || second->has_value()) << seed;
  }
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
