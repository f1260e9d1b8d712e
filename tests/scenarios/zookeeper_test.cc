// What a ZooKeeper ensemble can do to holders, and seeds that once showed a defect.

#include <gtest/gtest.h>

#include "engines/zookeeper/zookeeper_engine.h"
#include "sim/seed_run.h"
#include "sim/world/world.h"

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;

EngineMaker zookeeper_maker() {
  return [](Env& env, Ports ports) {
    const zookeeper::Settings settings{.timeout = 200ms, .patience = 10s};
    return std::make_shared<zookeeper::ZookeeperEngine>(env, std::move(ports.zookeeper), settings);
  };
}

class ZookeeperScenarioTest : public testing::Test {
 protected:
  /// The client reaches that member alone.
  void reach_only(ClientId client, std::size_t member) {
    for (std::size_t i = 0; i < world_.nodes(); ++i) {
      if (i == member) continue;
      world_.cut(world_.client_host(client), world_.node_host(i));
      world_.cut(world_.node_host(i), world_.client_host(client));
    }
  }

  /// Runs until bob has the lock, and says whether alice knew before that hers was lost.
  void expect_told_before_bob_is_granted(const LeaseView& lease) {
    const auto granted = world_.start_acquire(bob_, "ledger", kTtl, 60s);
    const bool answered = world_.scheduler().run_until([&] { return granted->has_value(); }, 2min);
    ASSERT_TRUE(answered);
    ASSERT_TRUE(granted->value().has_value());
    EXPECT_EQ(lease.state(), LeaseState::lost);
    EXPECT_LE(lease.valid_until(), world_.now());
    EXPECT_GT(granted->value()->token(), lease.token());
  }

  static constexpr Millis kTtl{4000};

  World world_{7, {.engine = zookeeper_maker(), .servers = ServerKind::zookeeper, .nodes = 3}};
  ClientId alice_{world_.add_client("alice")};
  ClientId bob_{world_.add_client("bob")};
};

TEST_F(ZookeeperScenarioTest, AHolderAtAFollowerThatIsCutOffIsTold) {
  reach_only(alice_, 1);
  const LeaseView lease = world_.must_acquire(alice_, "ledger", kTtl);
  world_.advance(10s);
  ASSERT_EQ(lease.state(), LeaseState::held);
  world_.zookeeper().isolate(1);
  expect_told_before_bob_is_granted(lease);
}

TEST_F(ZookeeperScenarioTest, AHolderAtALeaderThatIsDeposedIsTold) {
  reach_only(alice_, 0);
  reach_only(bob_, 1);
  const LeaseView lease = world_.must_acquire(alice_, "ledger", kTtl);
  world_.advance(10s);
  world_.zookeeper().isolate(0, ZookeeperEnsemble::Notice::at_once);
  expect_told_before_bob_is_granted(lease);
}

TEST_F(ZookeeperScenarioTest, AHolderKeepsItsLockWhileLeadersChange) {
  const LeaseView lease = world_.must_acquire(alice_, "ledger", kTtl);
  for (int i = 0; i < 5; ++i) {
    world_.zookeeper().change_leader();
    world_.advance(5s);
    EXPECT_EQ(lease.state(), LeaseState::held) << i;
  }
}

// Servers that are behind, requests that run late, sessions that move, members that stay with a
// leader that has stopped.
TEST(ZookeeperSeedTest, SeedsThatOnceFailedHold) {
  const SeedOptions options{.protocol = find_protocol("zookeeper")};
  for (const std::uint64_t seed : {32U, 330U, 375U, 677U, 764U, 1447U, 1988U, 5961U, 8382U}) {
    const SeedReport report = run_seed(seed, options);
    for (const Violation& violation : report.violations) {
      ADD_FAILURE() << "seed " << seed << ": " << violation.checker << ": " << violation.what;
    }
  }
}

}  // namespace
}  // namespace holdfast::sim
