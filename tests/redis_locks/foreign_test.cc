// Clients that take locks by SET NX PX are kept out by every mode of ours, and keep it out.

#include "tests/redis_locks/locks_bed.h"

namespace holdfast::redis_locks {
namespace {

class ForeignTest : public LocksBed, public testing::WithParamInterface<AcquireOptions> {
 protected:
  AcquireOptions options(Millis ttl, LeaseKind kind = LeaseKind::session) const {
    AcquireOptions options = GetParam();
    options.ttl = ttl;
    options.kind = kind;
    options.wait = kPatience;
    return options;
  }
};

TEST_P(ForeignTest, OurHoldersKeepThemOutToTheLast) {
  auto first = client_.acquire("x", options(30s));
  auto second = client_.acquire("x", options(1500ms));
  ASSERT_TRUE(first && second);
  EXPECT_FALSE(foreign_client_gets("x"));
  EXPECT_EQ(first->release(), ReleaseOutcome::released);
  for (const TimePoint end = BootClock::now() + 3s; BootClock::now() < end;) {
    ASSERT_FALSE(foreign_client_gets("x")) << "it is renewed all the time";
  }
  EXPECT_EQ(second->release(), ReleaseOutcome::released);
  EXPECT_TRUE(foreign_client_gets("x"));
}

TEST_P(ForeignTest, OurHoldersKeepThemOutUntilTheyExpire) {
  auto lease = client_.acquire("x", options(300ms, LeaseKind::detached));
  ASSERT_TRUE(lease);
  ASSERT_TRUE(lease->detach());
  EXPECT_FALSE(foreign_client_gets("x"));
  EXPECT_TRUE(eventually([&] { return foreign_client_gets("x"); }));
  EXPECT_EQ(client_.release("x", lease->owner()).value(), ReleaseOutcome::already_lost);
  EXPECT_FALSE(foreign_client_gets("x")) << "theirs was not touched";
}

TEST_P(ForeignTest, TheirLockKeepsUsOutUntilTheyReleaseIt) {
  ASSERT_TRUE(foreign_client_gets("x"));
  AcquireOptions at_once = GetParam();
  at_once.wait = 0ms;
  const auto refused = client_.acquire("x", at_once);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::busy);
  ASSERT_TRUE(refused.error().holder);
  EXPECT_TRUE(refused.error().holder->foreign);
  command({"DEL", "hf:x"});
  EXPECT_TRUE(client_.acquire("x", at_once));
}

TEST_P(ForeignTest, TheirLockKeepsUsOutUntilItExpires) {
  ASSERT_EQ(command({"SET", "hf:x", "their-secret", "NX", "PX", "300"}).text, "OK");
  const TimePoint taken = BootClock::now();
  ASSERT_TRUE(client_.acquire("x", options(30s)));
  EXPECT_GE(BootClock::now() - taken, 250ms);
}

INSTANTIATE_TEST_SUITE_P(Modes,
                         ForeignTest,
                         testing::Values(AcquireOptions{.mode = Mode::shared},
                                         AcquireOptions{.mode = Mode::permit, .permits = 3}),
                         [](const auto& mode) { return std::string{to_string(mode.param.mode)}; });

TEST_F(LocksBed, TheirDeletionOfTheMarkerFreesTheLock) {
  auto lease = client_.acquire("x", {.mode = Mode::shared, .ttl = 30s});
  ASSERT_TRUE(lease);
  command({"DEL", "hf:x"});
  EXPECT_TRUE(foreign_client_gets("x"));
  EXPECT_EQ(lease->release(), ReleaseOutcome::already_lost);
  EXPECT_FALSE(foreign_client_gets("x"));
}

TEST_F(LocksBed, ALockDelayKeepsThemOut) {
  auto lease =
      client_.acquire("x", {.ttl = 200ms, .kind = LeaseKind::detached, .lock_delay = 10min});
  ASSERT_TRUE(lease);
  ASSERT_TRUE(lease->detach());
  ASSERT_TRUE(eventually([&] { return client_.inspect("x")->delay > 0ms; }));
  EXPECT_FALSE(foreign_client_gets("x"));
}

}  // namespace
}  // namespace holdfast::redis_locks
