// Why tokens: the lock alone does not stop a holder that does not know it has lost.

#include <gtest/gtest.h>

#include "sim/world/world.h"

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;

/// A resource that refuses a token lower than the highest it has seen.
class FencedRegister {
 public:
  Result<void> write(Token token, std::string value) {
    if (token < highest_) return Unexpected{Errc::stale_token};
    highest_ = token;
    value_ = std::move(value);
    return {};
  }
  const std::string& value() const { return value_; }

 private:
  Token highest_{0};
  std::string value_;
};

// Goal: a holder that sleeps through its own deadline cannot damage the resource.
// Method: freeze alice past her TTL, let bob take over, then wake her mid-write.
TEST(FencingTest, PausedHolderIsRefusedAfterTakeover) {
  World world{/*seed=*/7};
  const ClientId alice = world.add_client("alice");
  const ClientId bob = world.add_client("bob");
  FencedRegister ledger;

  const LeaseView first = world.must_acquire(alice, "ledger", 10s);
  world.pause(alice);
  world.advance(10s + 1ms);
  const LeaseView second = world.must_acquire(bob, "ledger", 10s);
  EXPECT_GT(second.token(), first.token());

  EXPECT_TRUE(ledger.write(second.token(), "bob was here"));
  world.resume(alice);
  const auto stale = ledger.write(first.token(), "stale");
  ASSERT_FALSE(stale);
  EXPECT_EQ(stale.error().code, Errc::stale_token);
  EXPECT_EQ(ledger.value(), "bob was here");
}

// Goal: a server whose clock is stepped breaks the lease, and the token still protects.
// Method: the wall clock jumps past the TTL while alice holds.
TEST(FencingTest, AServerClockSteppedForwardEndsTheLeaseEarlyButTokensRise) {
  World world{/*seed=*/8};
  const ClientId alice = world.add_client("alice");
  const ClientId bob = world.add_client("bob");
  const LeaseView first = world.must_acquire(alice, "ledger", 10s);
  world.node().step_clock(60s);
  const LeaseView second = world.must_acquire(bob, "ledger", 10s);
  EXPECT_GT(second.token(), first.token());
  world.advance(4s);
  EXPECT_EQ(first.loss_reason(), LossReason::gone);
  EXPECT_EQ(second.state(), LeaseState::held);
}

}  // namespace
}  // namespace holdfast::sim
