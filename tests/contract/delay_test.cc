// Lock-delay: after a holder vanished, nobody is granted the lock for a while.

#include "tests/contract/contract.h"

namespace holdfast::contract {
namespace {

constexpr AcquireOptions kDelayed{.ttl = 300ms, .lock_delay = 500ms};

using DelayContract = ContractTest;
HOLDFAST_CONTRACT(DelayContract);

TEST_P(DelayContract, KilledHolderLeavesADelay) {
  if (!can(&Capabilities::lock_delay, kDelayed)) return;
  auto a = actor();
  ASSERT_TRUE(a->acquire("lease", "x", kDelayed).granted());
  const TimePoint killed_at = BootClock::now();
  a->kill();
  ASSERT_TRUE(eventually([&] { return client().inspect("x")->delay > 0ms; }));
  EXPECT_LE(client().inspect("x")->delay, 500ms);
  EXPECT_EQ(client().try_acquire("x").error().code, Errc::busy);
  EXPECT_TRUE(client().acquire("x", {.wait = kPatience}));
  EXPECT_GE(BootClock::now() - killed_at, 500ms);
}

TEST_P(DelayContract, WaiterIsWokenAfterTheDelay) {
  if (!can(&Capabilities::lock_delay, kDelayed)) return;
  auto a = actor();
  auto b = actor();
  ASSERT_TRUE(a->acquire("lease", "x", kDelayed).granted());
  PendingAnswer pending = b->begin_acquire("lease", "x");
  ASSERT_TRUE(wait_for_waiters("x", 1));
  const TimePoint killed_at = BootClock::now();
  a->kill();
  const Answer next = pending.get();
  ASSERT_TRUE(next.granted()) << next.message;
  EXPECT_GE(next.granted_at - killed_at, 500ms);
}

TEST_P(DelayContract, PausedHolderLeavesADelayAfterItsDeadline) {
  if (!can(&Capabilities::lock_delay, kDelayed)) return;
  auto a = actor();
  const Answer first = a->acquire("lease", "x", kDelayed);
  ASSERT_TRUE(first.granted());
  auto b = actor();
  PendingAnswer pending = b->begin_acquire("lease", "x");
  ASSERT_TRUE(wait_for_waiters("x", 1));
  a->pause();
  const Answer next = pending.get();
  ASSERT_TRUE(next.granted()) << next.message;
  EXPECT_GE(next.granted_at - first.valid_until, 500ms);
}

TEST_P(DelayContract, ReleaseLeavesNone) {
  if (!can(&Capabilities::lock_delay, kDelayed)) return;
  auto lease = client().acquire("x", {.lock_delay = 10min});
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->release(), ReleaseOutcome::released);
  EXPECT_EQ(client().inspect("x")->delay, 0ms);
  EXPECT_TRUE(client().try_acquire("x"));
}

}  // namespace
}  // namespace holdfast::contract
