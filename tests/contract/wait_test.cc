// How an acquisition ends without a lease: busy, timeout, cancelled.

#include "tests/contract/contract.h"

namespace holdfast::contract {
namespace {

using WaitContract = ContractTest;
HOLDFAST_CONTRACT(WaitContract);

TEST_P(WaitContract, BusyNamesTheHolder) {
  auto a = actor();
  const Answer held = a->acquire("lease", "x", {.ttl = 20s, .label = "nightly"});
  ASSERT_TRUE(held.granted());
  const auto refused = client().try_acquire("x");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::busy);
  ASSERT_TRUE(refused.error().holder);
  const Contender& holder = *refused.error().holder;
  EXPECT_EQ(holder.owner_fp, held.owner.fingerprint());
  EXPECT_EQ(holder.token, held.token);
  EXPECT_EQ(holder.label, "nightly");
  EXPECT_GT(holder.ttl, 0ms);
  EXPECT_LE(holder.ttl, 20s);
}

TEST_P(WaitContract, TimeoutComesNotEarlyAndNamesTheHolder) {
  auto held = client().acquire("x");
  ASSERT_TRUE(held);
  const TimePoint asked_at = BootClock::now();
  const auto refused = client().acquire("x", {.wait = 200ms});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::timeout);
  EXPECT_GE(BootClock::now() - asked_at, 200ms);
  ASSERT_TRUE(refused.error().holder);
  EXPECT_EQ(refused.error().holder->owner_fp, held->owner().fingerprint());
  EXPECT_TRUE(client().inspect("x")->waiters.empty());
}

TEST_P(WaitContract, CancelEndsTheWaitAndLeavesNothing) {
  auto held = client().acquire("x");
  ASSERT_TRUE(held);
  std::stop_source stop;
  auto waiting = std::async(
      std::launch::async, [&] { return client().acquire("x", {}, stop.get_token()).error().code; });
  ASSERT_TRUE(wait_for_waiters("x", 1));
  stop.request_stop();
  EXPECT_EQ(waiting.get(), Errc::cancelled);
  EXPECT_TRUE(client().inspect("x")->waiters.empty());
  held->release();
  EXPECT_TRUE(client().try_acquire("x"));
}

TEST_P(WaitContract, StopRequestedBeforehandNeverWaits) {
  auto held = client().acquire("x");
  ASSERT_TRUE(held);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(client().acquire("x", {}, stop.get_token()).error().code, Errc::cancelled);
}

TEST_P(WaitContract, VeryLongWaitsDoNotOverflow) {
  auto held = client().acquire("x");
  ASSERT_TRUE(held);
  for (const Millis wait : {kForever, kForever - 1ms, Millis{std::chrono::hours{24 * 366 * 300}}}) {
    std::stop_source stop;
    auto waiting = std::async(std::launch::async, [&] {
      return client().acquire("x", {.wait = wait}, stop.get_token()).error().code;
    });
    EXPECT_TRUE(wait_for_waiters("x", 1)) << wait.count();
    stop.request_stop();
    EXPECT_EQ(waiting.get(), Errc::cancelled) << wait.count();
  }
}

TEST_P(WaitContract, ReleaseWakesAWaiterOfTheSameProcess) {
  auto held = client().acquire("x");
  ASSERT_TRUE(held);
  auto waiting = std::async(std::launch::async, [&] {
    auto lease = client().acquire("x");
    return lease ? lease->token() : Token{0};
  });
  ASSERT_TRUE(wait_for_waiters("x", 1));
  const Token first = held->token();
  held->release();
  EXPECT_GT(waiting.get(), first);
}

}  // namespace
}  // namespace holdfast::contract
