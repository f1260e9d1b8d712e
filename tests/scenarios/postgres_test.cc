// What a PostgreSQL server can do to holders and to those who wait.

#include <gtest/gtest.h>

#include "engines/postgres/postgres_engine.h"
#include "sim/world/world.h"

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;

EngineMaker postgres_maker() {
  return [](Env& env, Ports ports) {
    const postgres::Settings settings{.timeout = 200ms, .patience = 10s};
    return std::make_shared<postgres::PostgresEngine>(env, std::move(ports.postgres), settings);
  };
}

class PostgresScenarioTest : public testing::TestWithParam<Pooler> {
 protected:
  ClientId start(const char* name) {
    world_.servers().pooler = GetParam();
    return world_.add_client(name);
  }

  /// Runs until it is answered, and says whether it was granted.
  bool gets_it(const Awaited<Acquired>& acquired) {
    const bool answered = world_.scheduler().run_until([&] { return acquired->has_value(); }, 2min);
    return answered && acquired->value().has_value();
  }

  bool answered(const Awaited<Acquired>& acquired) const { return acquired->has_value(); }

  static constexpr Millis kTtl{4000};

  World world_{7, {.engine = postgres_maker(), .servers = ServerKind::postgres}};
  ClientId alice_{start("alice")};
  ClientId bob_{start("bob")};
  ClientId carol_{start("carol")};
};

TEST_P(PostgresScenarioTest, WhoWaitsHasTheLockSoonAfterItIsReleased) {
  const LeaseView lease = world_.must_acquire(alice_, "ledger", kTtl);
  const auto waiting = world_.start_acquire(bob_, "ledger", kTtl, 60s);
  world_.advance(3s);
  EXPECT_FALSE(answered(waiting));
  world_.release(alice_, lease);
  world_.advance(500ms);
  ASSERT_TRUE(answered(waiting));
  EXPECT_GT(waiting->value().value().token(), lease.token());
}

TEST_P(PostgresScenarioTest, WhoCameFirstIsServedFirst) {
  const LeaseView lease = world_.must_acquire(alice_, "ledger", kTtl);
  const auto first = world_.start_acquire(bob_, "ledger", kTtl, 60s);
  world_.advance(500ms);
  const auto second = world_.start_acquire(carol_, "ledger", kTtl, 60s);
  world_.advance(500ms);
  world_.release(alice_, lease);
  ASSERT_TRUE(gets_it(first));
  world_.advance(kTtl * 2);
  EXPECT_FALSE(answered(second)) << "the first still has it";
  world_.release(bob_, first->value().value());
  EXPECT_TRUE(gets_it(second));
}

TEST_P(PostgresScenarioTest, APausedHolderIsToldThatItHasLostTheLock) {
  const LeaseView lease = world_.must_acquire(alice_, "ledger", kTtl);
  world_.pause(alice_);
  const auto next = world_.start_acquire(bob_, "ledger", kTtl, 60s);
  ASSERT_TRUE(gets_it(next));
  EXPECT_LE(lease.valid_until(), world_.now());
  world_.resume(alice_);
  world_.advance(1s);
  EXPECT_EQ(lease.state(), LeaseState::lost);
  EXPECT_GT(next->value().value().token(), lease.token());
}

TEST_P(PostgresScenarioTest, OneWhoWaitedAndWasKilledIsPassedOver) {
  const LeaseView lease = world_.must_acquire(alice_, "ledger", kTtl);
  world_.start_acquire(bob_, "ledger", kTtl, 60s);
  world_.advance(500ms);
  const auto second = world_.start_acquire(carol_, "ledger", kTtl, 60s);
  world_.advance(500ms);
  world_.kill(bob_);
  // Keep-alives find out that its machine is gone, and without a session its TTL has passed.
  world_.advance(kTtl * 2);
  world_.release(alice_, lease);
  world_.advance(500ms);
  EXPECT_TRUE(answered(second));
}

TEST_P(PostgresScenarioTest, ARestartTakesNoLease) {
  const LeaseView lease = world_.must_acquire(alice_, "ledger", kTtl);
  const auto waiting = world_.start_acquire(bob_, "ledger", kTtl, 60s);
  world_.advance(1s);
  world_.stop_node(0);
  world_.advance(500ms);
  world_.start_node(0);
  world_.advance(20s);
  EXPECT_EQ(lease.state(), LeaseState::held);
  EXPECT_FALSE(answered(waiting));
  world_.release(alice_, lease);
  EXPECT_TRUE(gets_it(waiting));
}

TEST_P(PostgresScenarioTest, APromotionThatLostTheLeaseIsToldAsSuchAndTokensRise) {
  world_.postgres().replicate();
  const LeaseView lease = world_.must_acquire(alice_, "ledger", kTtl);
  world_.postgres().promote_replica();
  world_.advance(kTtl);
  EXPECT_EQ(lease.state(), LeaseState::lost);
  EXPECT_EQ(lease.loss_reason(), LossReason::failed_over);
  EXPECT_GT(world_.must_acquire(bob_, "ledger", kTtl).token(), lease.token());
}

INSTANTIATE_TEST_SUITE_P(Way,
                         PostgresScenarioTest,
                         testing::Values(Pooler::no, Pooler::yes),
                         [](const auto& param) {
                           return param.param == Pooler::yes ? "ThroughAPooler" : "Direct";
                         });

}  // namespace
}  // namespace holdfast::sim
