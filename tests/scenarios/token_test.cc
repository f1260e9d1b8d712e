// Tokens rise, whatever happens between two grants.

#include <gtest/gtest.h>

#include "sim/world/world.h"

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;

const std::string kCounterKey = "hf:\x01token";

class TokenTest : public testing::Test {
 protected:
  Token grant_and_release() {
    const LeaseView lease = world_.must_acquire(alice_, "ledger", 10s);
    EXPECT_EQ(world_.release(alice_, lease), ReleaseOutcome::released);
    return lease.token();
  }

  World world_{/*seed=*/17};
  ClientId alice_ = world_.add_client("alice");
  ClientId bob_ = world_.add_client("bob");
};

TEST_F(TokenTest, RiseAcrossReleaseAndBetweenLocks) {
  Token last{0};
  for (const std::string_view lock : {"a", "b", "a", "c", "b"}) {
    const LeaseView lease = world_.must_acquire(alice_, lock, 10s);
    EXPECT_GT(lease.token(), last);
    last = lease.token();
    world_.release(alice_, lease);
  }
}

TEST_F(TokenTest, RiseAcrossExpiry) {
  const LeaseView first = world_.must_acquire(alice_, "ledger", 1s);
  world_.kill(alice_);
  world_.advance(2s);
  EXPECT_GT(world_.must_acquire(bob_, "ledger", 1s).token(), first.token());
}

TEST_F(TokenTest, RiseAcrossARestartThatKeepsData) {
  const Token before = grant_and_release();
  world_.node().stop();
  world_.node().start(Data::kept);
  EXPECT_GT(grant_and_release(), before);
}

TEST_F(TokenTest, RiseAcrossARestartThatLosesEverything) {
  const Token before = grant_and_release();
  world_.node().stop();
  world_.node().start(Data::lost);
  ASSERT_EQ(world_.node().get(kCounterKey), std::nullopt);
  EXPECT_GT(grant_and_release(), before);
}

TEST_F(TokenTest, RiseWhenTheServerClockGoesBack) {
  const Token before = grant_and_release();
  world_.node().step_clock(-1h);
  EXPECT_EQ(grant_and_release(), Token{before.value() + 1});
  EXPECT_EQ(grant_and_release(), Token{before.value() + 2});
}

TEST_F(TokenTest, AreExactUpToTheHighestAndThenRefused) {
  world_.node().command({"SET", kCounterKey, std::to_string(Token::kMax - 1)});
  EXPECT_EQ(grant_and_release(), Token{Token::kMax});
  const Acquired acquired = world_.acquire(alice_, "ledger", 10s);
  ASSERT_FALSE(acquired);
  EXPECT_EQ(acquired.error().code, Errc::corrupt);
  EXPECT_EQ(world_.node().get("hf:ledger"), std::nullopt);
}

TEST_F(TokenTest, ADamagedCounterGrantsNothing) {
  world_.node().command({"SET", kCounterKey, "many"});
  EXPECT_EQ(world_.acquire(alice_, "ledger", 10s).error().code, Errc::corrupt);
}

TEST_F(TokenTest, NoKeyStaysBehindForALockThatWasReleased) {
  for (int i = 0; i < 100; ++i) {
    const std::string lock = "lock" + std::to_string(i);
    world_.release(alice_, world_.must_acquire(alice_, lock, 10s));
    EXPECT_EQ(world_.node().get("hf:" + lock), std::nullopt);
  }
  EXPECT_EQ(world_.node().model().size(), 1U);
}

}  // namespace
}  // namespace holdfast::sim
