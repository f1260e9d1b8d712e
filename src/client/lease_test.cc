#include "holdfast/lease.h"

#include <gtest/gtest.h>

#include <optional>

#include "client/fake_backend.h"
#include "holdfast/client.h"

namespace holdfast {
namespace {

using testing::FakeBackend;

struct LeaseTest : ::testing::Test {
  bool is_free(std::string_view name) { return client.inspect(name)->holders.empty(); }

  std::shared_ptr<FakeBackend> engine = std::make_shared<FakeBackend>();
  Client client{engine};
};

TEST_F(LeaseTest, DestructionReleases) {
  {
    const auto lease = client.acquire("x");
    ASSERT_TRUE(lease);
    EXPECT_FALSE(is_free("x"));
  }
  EXPECT_TRUE(is_free("x"));
}

TEST_F(LeaseTest, MovingKeepsTheLockAndAssigningReleasesTheOldOne) {
  auto x = client.acquire("x");
  auto y = client.acquire("y");
  ASSERT_TRUE(x && y);
  Lease moved{std::move(*x)};
  EXPECT_FALSE(is_free("x"));
  moved = std::move(*y);
  EXPECT_TRUE(is_free("x"));
  EXPECT_FALSE(is_free("y"));
  EXPECT_EQ(moved.name(), "y");
  Lease& same = moved;
  moved = std::move(same);
  EXPECT_FALSE(is_free("y"));
}

TEST_F(LeaseTest, HeldUntilReleased) {
  auto lease = client.acquire("x");
  ASSERT_TRUE(lease);
  EXPECT_TRUE(lease->ensure_held());
  EXPECT_GT(lease->valid_for(), Duration{0});
  EXPECT_LE(lease->valid_for(), lease->ttl());
  EXPECT_EQ(lease->release(), ReleaseOutcome::released);
  EXPECT_EQ(lease->release(), ReleaseOutcome::released);
  EXPECT_EQ(lease->valid_for(), Duration{0});
  EXPECT_EQ(lease->ensure_held().error().code, Errc::lost);
  EXPECT_FALSE(lease->stop_token().stop_requested());
}

TEST_F(LeaseTest, LossIsSaidWithItsReason) {
  auto lease = client.acquire("x");
  ASSERT_TRUE(lease);
  std::optional<LeaseEvent> seen;
  lease->on_event([&](const LeaseEvent& event) { seen = event; });
  ASSERT_TRUE(client.break_lock("x", "test"));
  EXPECT_TRUE(lease->stop_token().stop_requested());
  EXPECT_EQ(lease->loss_reason(), LossReason::broken);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->state, LeaseState::lost);
  const auto held = lease->ensure_held();
  ASSERT_FALSE(held);
  EXPECT_EQ(held.error().code, Errc::lost);
  EXPECT_NE(held.error().message.find("broken"), std::string::npos);
  EXPECT_EQ(lease->release(), ReleaseOutcome::already_lost);
}

// A process that was paused runs before its keeper does: the clock alone must tell.
TEST_F(LeaseTest, PassedDeadlineIsLossEvenIfTheKeeperHasNotNoticed) {
  const auto lease = client.acquire("x");
  ASSERT_TRUE(lease);
  engine->last()->pass_deadline();
  EXPECT_EQ(lease->valid_for(), Duration{0});
  const auto held = lease->ensure_held();
  ASSERT_FALSE(held);
  EXPECT_NE(held.error().message.find("expired"), std::string::npos);
}

TEST_F(LeaseTest, DetachedLeaseSurvivesItsObject) {
  {
    auto lease = client.acquire("x");
    ASSERT_TRUE(lease);
    ASSERT_TRUE(lease->detach());
  }
  EXPECT_FALSE(is_free("x"));
  EXPECT_EQ(*client.release("x", engine->last()->owner()), ReleaseOutcome::released);
}

TEST(NamesTest, EveryValueHasItsName) {
  EXPECT_EQ(to_string(LeaseState::held), "held");
  EXPECT_EQ(to_string(LeaseState::jeopardy), "jeopardy");
  EXPECT_EQ(to_string(LeaseState::lost), "lost");
  EXPECT_EQ(to_string(LeaseState::released), "released");
  EXPECT_EQ(to_string(LossReason::none), "none");
  EXPECT_EQ(to_string(LossReason::expired), "expired");
  EXPECT_EQ(to_string(LossReason::broken), "broken");
  EXPECT_EQ(to_string(LossReason::gone), "gone");
  EXPECT_EQ(to_string(LossReason::abandoned), "abandoned");
  EXPECT_EQ(to_string(LossReason::restarted), "restarted");
  EXPECT_EQ(to_string(LossReason::failed_over), "failed_over");
  EXPECT_EQ(to_string(LossReason::evicted), "evicted");
  EXPECT_EQ(to_string(LossReason::flushed), "flushed");
  EXPECT_EQ(to_string(LossReason::clock_stepped), "clock_stepped");
  EXPECT_EQ(to_string(LossReason::removed), "removed");
  EXPECT_EQ(to_string(LossReason::revoked), "revoked");
  EXPECT_EQ(to_string(LossReason::rolled_back), "rolled_back");
  EXPECT_EQ(to_string(ReleaseOutcome::released), "released");
  EXPECT_EQ(to_string(ReleaseOutcome::already_lost), "already_lost");
  EXPECT_EQ(to_string(ReleaseOutcome::unknown), "unknown");
  EXPECT_EQ(to_string(LockChange::granted), "granted");
  EXPECT_EQ(to_string(LockChange::released), "released");
  EXPECT_EQ(to_string(LockChange::waiting), "waiting");
}

}  // namespace
}  // namespace holdfast
