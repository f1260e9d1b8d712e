// Holdfast and the clients that take locks by SET NX PX and compare-and-delete, on the same key.

#include <gtest/gtest.h>

#include "sim/world/world.h"

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;

class InteroperationTest : public testing::Test {
 protected:
  redis::Reply foreign_lock() {
    return world_.node().command({"SET", "hf:ledger", "their-secret", "NX", "PX", "5000"});
  }

  World world_{/*seed=*/19};
  ClientId alice_ = world_.add_client("alice");
};

TEST_F(InteroperationTest, AForeignHolderKeepsUsOut) {
  ASSERT_EQ(foreign_lock().text, "OK");
  const Acquired acquired = world_.acquire(alice_, "ledger", 10s);
  ASSERT_FALSE(acquired);
  EXPECT_EQ(acquired.error().code, Errc::busy);
  ASSERT_TRUE(acquired.error().holder);
  EXPECT_TRUE(acquired.error().holder->foreign);
  EXPECT_EQ(world_.node().get("hf:ledger"), "their-secret");
  world_.advance(6s);
  world_.must_acquire(alice_, "ledger", 10s);
}

TEST_F(InteroperationTest, OurLockKeepsForeignClientsOut) {
  const LeaseView lease = world_.must_acquire(alice_, "ledger", 10s);
  world_.advance(60s);
  EXPECT_EQ(foreign_lock(), redis::Reply{});
  world_.release(alice_, lease);
  EXPECT_EQ(foreign_lock().text, "OK");
}

TEST_F(InteroperationTest, WeNeverReleaseOrRenewAForeignLock) {
  const LeaseView lease = world_.must_acquire(alice_, "ledger", 1s);
  world_.pause(alice_);
  world_.advance(2s);
  ASSERT_EQ(foreign_lock().text, "OK");
  world_.resume(alice_);
  EXPECT_EQ(world_.release(alice_, lease), ReleaseOutcome::already_lost);
  world_.advance(4s);
  EXPECT_EQ(world_.node().get("hf:ledger"), "their-secret");
  world_.advance(2s);
  EXPECT_EQ(world_.node().get("hf:ledger"), std::nullopt);
}

TEST_F(InteroperationTest, AnEmptyPrefixUsesTheBareName) {
  World world{/*seed=*/20, {.engine = redis_maker({.prefix = ""})}};
  const ClientId bob = world.add_client("bob");
  world.must_acquire(bob, "ledger", 10s);
  EXPECT_NE(world.node().get("ledger"), std::nullopt);
}

}  // namespace
}  // namespace holdfast::sim
