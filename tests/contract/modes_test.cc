// Shared locks and permits.

#include "tests/contract/contract.h"

namespace holdfast::contract {
namespace {

constexpr AcquireOptions kShared{.mode = Mode::shared};
constexpr AcquireOptions kTwoPermits{.mode = Mode::permit, .permits = 2};

using ModesContract = ContractTest;
HOLDFAST_CONTRACT(ModesContract);

TEST_P(ModesContract, ReadersHoldTogetherAndKeepWritersOut) {
  if (!can(&Capabilities::shared, kShared)) return;
  auto a = actor();
  auto b = actor();
  const Answer first = a->acquire("lease", "x", kShared);
  const Answer second = b->acquire("lease", "x", kShared);
  ASSERT_TRUE(first.granted() && second.granted());
  EXPECT_NE(first.token, second.token);
  auto third = client().acquire("x", kShared);
  ASSERT_TRUE(third);
  EXPECT_EQ(third->mode(), Mode::shared);
  EXPECT_EQ(client().inspect("x")->holders.size(), 3u);
  EXPECT_EQ(client().try_acquire("x").error().code, Errc::busy);

  third->release();
  a->release("lease");
  EXPECT_EQ(client().try_acquire("x").error().code, Errc::busy);
  b->release("lease");
  EXPECT_TRUE(client().try_acquire("x"));
}

TEST_P(ModesContract, WriterKeepsReadersOut) {
  if (!can(&Capabilities::shared, kShared)) return;
  auto writer = client().acquire("x");
  ASSERT_TRUE(writer);
  EXPECT_EQ(client().try_acquire("x", kShared).error().code, Errc::busy);
  auto a = actor();
  PendingAnswer reader = a->begin_acquire("lease", "x", kShared);
  ASSERT_TRUE(wait_for_waiters("x", 1));
  writer->release();
  EXPECT_GT(reader.get().token, writer->token());
}

TEST_P(ModesContract, WaitingWriterStopsNewReaders) {
  if (!can(&Capabilities::shared, kShared)) return;
  auto reader = client().acquire("x", kShared);
  ASSERT_TRUE(reader);
  auto a = actor();
  PendingAnswer writer = a->begin_acquire("lease", "x");
  ASSERT_TRUE(wait_for_waiters("x", 1));
  EXPECT_EQ(client().try_acquire("x", kShared).error().code, Errc::busy);
  auto b = actor();
  PendingAnswer late_reader = b->begin_acquire("lease", "x", kShared);
  ASSERT_TRUE(wait_for_waiters("x", 2));
  reader->release();
  const Answer written = writer.get();
  ASSERT_TRUE(written.granted());
  EXPECT_FALSE(late_reader.is_ready());
  a->release("lease");
  EXPECT_GT(late_reader.get().token, written.token);
}

TEST_P(ModesContract, WriterThatGivesUpLetsReadersIn) {
  if (!can(&Capabilities::shared, kShared)) return;
  auto reader = client().acquire("x", kShared);
  ASSERT_TRUE(reader);
  auto a = actor();
  PendingAnswer writer = a->begin_acquire("lease", "x");
  ASSERT_TRUE(wait_for_waiters("x", 1));
  auto b = actor();
  PendingAnswer late_reader = b->begin_acquire("lease", "x", kShared);
  ASSERT_TRUE(wait_for_waiters("x", 2));
  a->cancel("lease");
  EXPECT_EQ(writer.get().code, Errc::cancelled);
  EXPECT_TRUE(late_reader.get().granted());
  EXPECT_TRUE(reader->ensure_held());
}

TEST_P(ModesContract, WritersDeathLetsAllWaitingReadersIn) {
  if (!can(&Capabilities::shared, kShared)) return;
  auto writer = actor();
  ASSERT_TRUE(writer->acquire("lease", "x", {.ttl = GetParam().ttl_of_the_dying}).granted());
  auto a = actor();
  std::vector<PendingAnswer> readers;
  for (int i = 0; i < 8; ++i) {
    readers.push_back(a->begin_acquire("lease" + std::to_string(i), "x", kShared));
  }
  ASSERT_TRUE(wait_for_waiters("x", 8));
  writer->kill();
  for (PendingAnswer& reader : readers) EXPECT_TRUE(reader.get().granted());
  EXPECT_EQ(client().inspect("x")->holders.size(), 8u);
}

TEST_P(ModesContract, AtMostNHoldPermits) {
  if (!can(&Capabilities::permits, kTwoPermits)) return;
  auto first = client().try_acquire("x", kTwoPermits);
  auto a = actor();
  const Answer second = a->acquire("lease", "x", kTwoPermits);
  ASSERT_TRUE(first && second.granted());
  EXPECT_EQ(first->mode(), Mode::permit);
  const auto refused = client().try_acquire("x", kTwoPermits);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::busy);
  auto b = actor();
  PendingAnswer third = b->begin_acquire("lease", "x", kTwoPermits);
  ASSERT_TRUE(wait_for_waiters("x", 1));
  const LockInfo info = *client().inspect("x");
  EXPECT_EQ(info.mode, Mode::permit);
  EXPECT_EQ(info.permits, 2u);
  EXPECT_EQ(info.holders.size(), 2u);
  a->release("lease");
  EXPECT_GT(third.get().token, second.token);
  EXPECT_TRUE(first->ensure_held());
}

TEST_P(ModesContract, DyingHolderGivesItsPermitBack) {
  if (!can(&Capabilities::permits, kTwoPermits)) return;
  auto first = client().try_acquire("x", kTwoPermits);
  auto a = actor();
  AcquireOptions dying = kTwoPermits;
  dying.ttl = GetParam().ttl_of_the_dying;
  ASSERT_TRUE(first && a->acquire("lease", "x", dying).granted());
  a->kill();
  AcquireOptions patient = kTwoPermits;
  patient.wait = kPatience;
  EXPECT_TRUE(client().acquire("x", patient));
  EXPECT_TRUE(first->ensure_held());
}

TEST_P(ModesContract, DifferingNumberOfPermitsIsRefused) {
  if (!can(&Capabilities::permits, kTwoPermits)) return;
  auto first = client().acquire("x", kTwoPermits);
  ASSERT_TRUE(first);
  const auto differing = client().acquire("x", {.mode = Mode::permit, .permits = 3});
  ASSERT_FALSE(differing);
  EXPECT_EQ(differing.error().code, Errc::invalid_argument);
  EXPECT_NE(differing.error().message.find("permit"), std::string::npos);
  EXPECT_TRUE(first->ensure_held());
  first->release();
  EXPECT_TRUE(client().acquire("x", {.mode = Mode::permit, .permits = 3}));
}

TEST_P(ModesContract, PermitsAndExclusiveKeepEachOtherOut) {
  if (!can(&Capabilities::permits, kTwoPermits)) return;
  auto permit = client().acquire("x", kTwoPermits);
  ASSERT_TRUE(permit);
  EXPECT_EQ(client().try_acquire("x").error().code, Errc::busy);
  permit->release();
  auto writer = client().acquire("x");
  ASSERT_TRUE(writer);
  EXPECT_EQ(client().try_acquire("x", kTwoPermits).error().code, Errc::busy);
}

TEST_P(ModesContract, ManyPermitsAreNeverExceeded) {
  if (!can(&Capabilities::permits, kTwoPermits)) return;
  constexpr std::uint32_t kPermits = 20;
  const AcquireOptions options{.mode = Mode::permit, .permits = kPermits};
  std::vector<Lease> leases;
  for (std::uint32_t i = 0; i < kPermits; ++i) {
    auto lease = client().try_acquire("x", options);
    ASSERT_TRUE(lease) << lease.error().message;
    leases.push_back(std::move(*lease));
  }
  EXPECT_EQ(client().try_acquire("x", options).error().code, Errc::busy);
  leases.pop_back();
  EXPECT_TRUE(client().try_acquire("x", options));
}

}  // namespace
}  // namespace holdfast::contract
