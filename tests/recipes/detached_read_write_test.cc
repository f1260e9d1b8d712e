// Readers and writers of scripts, whose leases are known by their owners alone.

#include "recipes/detached_read_write.h"

#include <future>

#include "recipes/detached_locks.h"
#include "tests/contract/contract.h"

namespace holdfast::recipes {
namespace {

using namespace std::chrono_literals;
using contract::kPatience;

class DetachedReadWriteContract : public contract::ContractTest {
 protected:
  static constexpr const char* kName = "catalog";

  bool can_change() {
    return can(&Capabilities::shared, {.mode = Mode::shared}) &&
           can(&Capabilities::detached, {.kind = LeaseKind::detached});
  }
  static AcquireOptions wanted(Millis wait = kPatience) { return {.ttl = 1h, .wait = wait}; }

  /// A reader that nobody but its owner holds.
  Owner read() {
    auto lease = client().acquire(
        kName, {.mode = Mode::shared, .ttl = 1h, .wait = kPatience, .kind = LeaseKind::detached});
    EXPECT_TRUE(lease && lease->detach());
    return lease->owner();
  }
  Result<DetachedWriter, AcquireError> upgrade(const Owner& reader, Millis wait = kPatience) {
    return upgrade_detached(reconnect(), kName, reader, wanted(wait), {}, again_);
  }
  bool holds(const std::string& name, const Owner& owner) {
    const auto lock = client().inspect(name);
    for (const Contender& holder : lock->holders) {
      if (holder.owner_fp == owner.fingerprint()) return true;
    }
    return false;
  }

  std::optional<Lease> again_;
};
HOLDFAST_CONTRACT(DetachedReadWriteContract);

TEST_P(DetachedReadWriteContract, AReaderBecomesAWriterAndAReaderAgain) {
  if (!can_change()) return;
  const Owner reader = read();
  auto writer = upgrade(reader);
  ASSERT_TRUE(writer) << writer.error().message;
  EXPECT_FALSE(holds(kName, reader));
  EXPECT_EQ(writer->lease.mode(), Mode::exclusive);
  ASSERT_TRUE(writer->lease.detach() && writer->intent.detach());
  EXPECT_EQ(client().try_acquire(kName, {.mode = Mode::shared}).error().code, Errc::busy);
  auto reading = downgrade_detached(
      reconnect(), kName, writer->lease.owner(), writer->intent.owner(), wanted(), {});
  ASSERT_TRUE(reading) << reading.error().message;
  EXPECT_EQ(reading->mode(), Mode::shared);
  EXPECT_TRUE(client().inspect(intent_lock(kName))->holders.empty());
  EXPECT_TRUE(client().try_acquire(kName, {.mode = Mode::shared}));
}

TEST_P(DetachedReadWriteContract, WhileAnotherIsAboutToWriteTheReaderIsRefusedAndStands) {
  if (!can_change()) return;
  const Owner reader = read();
  auto writing = std::async(std::launch::async,
                            [&] { return write_detached(reconnect(), kName, wanted(), {}); });
  ASSERT_TRUE(wait_for_waiters(kName, 1));
  const auto refused = upgrade(reader);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::busy);
  EXPECT_TRUE(refused.error().holder);
  EXPECT_FALSE(again_);
  EXPECT_TRUE(holds(kName, reader));
  EXPECT_EQ(client().release(kName, reader).value(), ReleaseOutcome::released);
  EXPECT_TRUE(writing.get());
}

TEST_P(DetachedReadWriteContract, AnUpgradeInVainLeavesAReaderOfAnotherOwner) {
  if (!can_change()) return;
  const Owner reader = read();
  const Owner other = read();
  const auto refused = upgrade(reader, 100ms);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::timeout);
  ASSERT_TRUE(again_);
  EXPECT_TRUE(holds(kName, again_->owner()));
  EXPECT_FALSE(holds(kName, reader));
  EXPECT_TRUE(holds(kName, other));
  EXPECT_TRUE(client().inspect(intent_lock(kName))->holders.empty());
}

TEST_P(DetachedReadWriteContract, WhatIsNotHeldOrNotOfItsKindDoesNotChange) {
  if (!can_change()) return;
  const Owner reader = read();
  ASSERT_EQ(client().release(kName, reader).value(), ReleaseOutcome::released);
  EXPECT_EQ(upgrade(reader).error().code, Errc::lost);
  auto writer = write_detached(reconnect(), kName, wanted(), {});
  ASSERT_TRUE(writer) << writer.error().message;
  const Owner owner = writer->lease.owner();
  const Owner intent = writer->intent.owner();
  EXPECT_EQ(upgrade(owner).error().code, Errc::invalid_argument);
  const auto down = [&](const Owner& lease, const Owner& second) {
    return downgrade_detached(reconnect(), kName, lease, second, wanted(), {}).error().code;
  };
  EXPECT_EQ(down(reader, intent), Errc::lost);
  EXPECT_EQ(down(owner, reader), Errc::lost);
  EXPECT_TRUE(holds(kName, owner)) << "nothing was done";
  EXPECT_TRUE(holds(intent_lock(kName), intent));
}

// A writer may wait for longer than the TTL of its intent.
TEST_P(DetachedReadWriteContract, WhatIsHeldIsRenewedWhileTheRestIsWaitedFor) {
  if (!can_change()) return;
  auto lease = client().acquire(kName, {.ttl = 10s, .kind = LeaseKind::detached});
  ASSERT_TRUE(lease && lease->detach());
  DetachedLocks locks{reconnect(), 1h};
  const auto held = locks.adopt(kName, lease->owner());
  locks.keep_alive();
  EXPECT_GT(client().inspect(kName)->holders.at(0).ttl, 10min);
  EXPECT_TRUE(locks.stands(held));
  ASSERT_EQ(client().release(kName, lease->owner()).value(), ReleaseOutcome::released);
  EXPECT_FALSE(locks.stands(held));
}

}  // namespace
}  // namespace holdfast::recipes
