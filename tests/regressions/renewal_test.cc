// Defects of other libraries' renewals, as docs/internals/peer_defects.md numbers them.

#include <atomic>
#include <future>
#include <memory>

#include "tests/regressions/redis_bed.h"

namespace holdfast::regressions {
namespace {

using RenewalRegression = RedisBed;

/// What a lease's callback was told.
struct Told {
  std::atomic<bool> lost{false};
  std::atomic<LossReason> reason{LossReason::none};

  static std::shared_ptr<Told> by(Lease& lease) {
    auto told = std::make_shared<Told>();
    lease.on_event([told](const LeaseEvent& event) {
      if (event.state != LeaseState::lost) return;
      told->reason = event.reason;
      told->lost = true;
    });
    return told;
  }
};

TEST_F(RenewalRegression, D2_ALeaseThatIsGoneIsNotExtended) {
  auto lease = client_.acquire("x");
  ASSERT_TRUE(lease);
  ASSERT_EQ(raw_.ask({"DEL", "hf:x"}), "1");
  const auto renewed = lease->renew();
  ASSERT_FALSE(renewed);
  EXPECT_EQ(renewed.error().code, Errc::lost);
}

TEST_F(RenewalRegression, D2_ALeaseThatIsAnothersIsNotExtended) {
  auto lease = client_.acquire("x");
  ASSERT_TRUE(lease);
  raw_.ask({"SET", "hf:x", "theirs", "PX", "60000"});
  const auto renewed = lease->renew();
  ASSERT_FALSE(renewed);
  EXPECT_EQ(renewed.error().code, Errc::lost);
  EXPECT_EQ(raw_.ask({"GET", "hf:x"}), "theirs");
}

TEST_F(RenewalRegression, D6_ManyShortLeasesLeaveNoRenewalsBehind) {
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(client_.acquire("x", {.ttl = 600ms}));
  auto lease = client_.acquire("x", {.ttl = 600ms});
  ASSERT_TRUE(lease);
  raw_.reset_counts();
  const TimePoint begin = BootClock::now();
  let_pass(1500ms);
  const std::int64_t scripts = raw_.scripts();
  const auto intervals = (BootClock::now() - begin) / 200ms;
  EXPECT_GE(scripts, 1) << "one lease is still renewed";
  EXPECT_LE(scripts, 2 * intervals + 2) << "only one is";
}

TEST_F(RenewalRegression, Item12_NothingIsRenewedAfterItsRelease) {
  for (int i = 0; i < 20; ++i) {
    auto lease = client_.acquire("x", {.ttl = 100ms});
    ASSERT_TRUE(lease);
    // Every other one while its renewal is about to be sent.
    if (i % 2 == 0) let_pass(33ms);
    EXPECT_EQ(lease->release(), ReleaseOutcome::released);
  }
  raw_.reset_counts();
  let_pass(500ms);
  EXPECT_EQ(raw_.scripts(), 0);
  EXPECT_EQ(raw_.ask({"EXISTS", "hf:x"}), "0");
}

TEST_F(RenewalRegression, D7_AFailedRenewalIsTriedAgainWhileTheLeaseStands) {
  Client client = connect_behind_proxy();
  auto lease = client.acquire("x", {.ttl = 20s});
  ASSERT_TRUE(lease);
  const auto told = Told::by(*lease);
  const int before = proxy_.connections();
  proxy_.refuse();
  ASSERT_TRUE(eventually([&] { return proxy_.connections() >= before + 2; })) << "it tries again";
  EXPECT_TRUE(lease->ensure_held());
  proxy_.heal();
  const TimePoint until = lease->valid_until();
  EXPECT_TRUE(eventually([&] { return lease->renew() && lease->valid_until() > until; }));
  EXPECT_FALSE(told->lost);
  EXPECT_EQ(lease->state(), LeaseState::held);
}

TEST_F(RenewalRegression, D13_ARedisErrorDoesNotEndRenewal) {
  auto lease = client_.acquire("x", {.ttl = 3s});
  ASSERT_TRUE(lease);
  raw_.reset_counts();
  raw_.ask({"ACL", "SETUSER", "default", "-evalsha", "-eval"});
  const bool refused = eventually([&] { return raw_.refused_scripts() >= 1; });
  raw_.ask({"ACL", "SETUSER", "default", "+@all"});
  ASSERT_TRUE(refused);
  raw_.reset_counts();
  EXPECT_TRUE(eventually([&] { return raw_.scripts() >= 2; })) << "it goes on";
  EXPECT_TRUE(lease->ensure_held());
}

TEST_F(RenewalRegression, D16_ValidityIsCountedFromBeforeTheRequest) {
  Client client = connect_behind_proxy();
  proxy_.hold_replies();
  auto pending = std::async(std::launch::async, [&] { return client.acquire("x", {.ttl = 20s}); });
  ASSERT_TRUE(eventually([&] { return raw_.ask({"EXISTS", "hf:x"}) == "1"; }));
  const TimePoint granted = BootClock::now();
  let_pass(300ms);
  proxy_.deliver();
  const auto lease = pending.get();
  ASSERT_TRUE(lease);
  EXPECT_LE(lease->valid_until(), granted + 20s);
}

TEST_F(RenewalRegression, D16_LossIsToldAtTheDeadlineWithoutAnAnswer) {
  Client client = connect_behind_proxy();
  auto lease = client.acquire("x", {.ttl = 500ms});
  ASSERT_TRUE(lease);
  const auto told = Told::by(*lease);
  proxy_.hold_replies();
  const TimePoint deadline = lease->valid_until();
  EXPECT_TRUE(eventually([&] { return told->lost.load(); })) << "no tick of an answer brings it";
  EXPECT_LT(BootClock::now() - deadline, 2s) << "elsewhere it was told three seconds later";
  EXPECT_EQ(told->reason, LossReason::expired);
  EXPECT_FALSE(lease->ensure_held());
}

TEST_F(RenewalRegression, D17_AShortLeaseIsNotRenewedInALoop) {
  auto lease = client_.acquire("x", {.ttl = kTtlMin});
  ASSERT_TRUE(lease);
  raw_.reset_counts();
  const TimePoint begin = BootClock::now();
  let_pass(1000ms);
  const std::int64_t scripts = raw_.scripts();
  EXPECT_LE(scripts, 2 * ((BootClock::now() - begin) / (kTtlMin / 3)));
}

TEST_F(RenewalRegression, D19_RenewalNeverMakesTheLockAgain) {
  auto lease = client_.acquire("x", {.ttl = 600ms});
  ASSERT_TRUE(lease);
  const auto told = Told::by(*lease);
  ASSERT_EQ(raw_.ask({"DEL", "hf:x"}), "1");
  ASSERT_TRUE(eventually([&] { return told->lost.load(); }));
  EXPECT_EQ(told->reason, LossReason::removed);
  EXPECT_EQ(raw_.ask({"EXISTS", "hf:x"}), "0");
}

TEST_F(RenewalRegression, D8_TheTtlAskedForIsTheTtl) {
  const auto lease = client_.acquire("x", {.ttl = std::chrono::hours{1}});
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->ttl(), std::chrono::hours{1});
  EXPECT_GT(raw_.number({"PTTL", "hf:x"}), 30 * 60 * 1000) << "not the default's half minute";
}

TEST_F(RenewalRegression, D10_ALeaseKeepsItsToken) {
  auto lease = client_.acquire("x");
  ASSERT_TRUE(lease);
  const Token token = lease->token();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(lease->renew());
  const auto again = client_.try_acquire("x");
  ASSERT_FALSE(again) << "taken twice by one process, it would have two tokens";
  EXPECT_EQ(again.error().code, Errc::busy);
  EXPECT_EQ(lease->token(), token);
  EXPECT_EQ(client_.inspect("x")->holders.at(0).token, token);
}

}  // namespace
}  // namespace holdfast::regressions
