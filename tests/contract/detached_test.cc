// Detached leases live by their TTL alone, and by whoever knows their owner.

#include "tests/contract/contract.h"

namespace holdfast::contract {
namespace {

constexpr AcquireOptions kDetached{.ttl = 60s, .kind = LeaseKind::detached};
constexpr AcquireOptions kBrief{.ttl = 300ms, .kind = LeaseKind::detached};

class DetachedContract : public ContractTest {
 protected:
  /// Takes a detached lease in a process that is dead when this returns.
  Answer left_behind(const AcquireOptions& options) {
    auto a = actor();
    Answer answer = a->acquire("lease", "x", options);
    EXPECT_TRUE(answer.granted()) << answer.message;
    EXPECT_EQ(a->ask({"detach", "lease"}).at(0), "detached");
    a->kill();
    return answer;
  }
};
HOLDFAST_CONTRACT(DetachedContract);

TEST_P(DetachedContract, SurvivesItsProcessAndIsReleasedByItsOwner) {
  if (!can(&Capabilities::detached, kDetached)) return;
  const Answer lease = left_behind(kDetached);
  EXPECT_EQ(client().try_acquire("x").error().code, Errc::busy);
  EXPECT_EQ(client().inspect("x")->holders.at(0).token, lease.token);
  EXPECT_EQ(*client().release("x", lease.owner), ReleaseOutcome::released);
  EXPECT_GT(next_token("x"), lease.token);
}

TEST_P(DetachedContract, ExpiresByItself) {
  if (!can(&Capabilities::detached, kBrief)) return;
  const Answer lease = left_behind(kBrief);
  auto next = client().acquire("x", {.wait = kPatience});
  ASSERT_TRUE(next);
  EXPECT_GT(next->token(), lease.token);
  EXPECT_GE(BootClock::now(), lease.valid_until);
  EXPECT_EQ(client().renew("x", lease.owner, 1s).error().code, Errc::lost);
  const auto outcome = client().release("x", lease.owner);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(*outcome, ReleaseOutcome::already_lost);
  EXPECT_TRUE(next->ensure_held());
}

TEST_P(DetachedContract, IsRenewedByItsOwner) {
  if (!can(&Capabilities::detached, kBrief)) return;
  const Answer lease = left_behind({.ttl = 2s, .kind = LeaseKind::detached});
  const auto left = client().renew("x", lease.owner, 60s);
  ASSERT_TRUE(left) << left.error().message;
  EXPECT_GT(*left, 2s);
  EXPECT_LE(*left, 60s);
  EXPECT_EQ(client().acquire("x", {.wait = 2500ms}).error().code, Errc::timeout);
  EXPECT_EQ(client().inspect("x")->holders.at(0).token, lease.token);
}

TEST_P(DetachedContract, RenewingForLessNeverShortensIt) {
  if (!can(&Capabilities::detached, kDetached)) return;
  const Answer lease = left_behind(kDetached);
  ASSERT_TRUE(client().renew("x", lease.owner, 100ms));
  EXPECT_GT(client().inspect("x")->holders.at(0).ttl, 10s);
}

TEST_P(DetachedContract, WithoutDetachTheDestructorReleases) {
  if (!can(&Capabilities::detached, kDetached)) return;
  { ASSERT_TRUE(client().acquire("x", kDetached)); }
  EXPECT_TRUE(client().try_acquire("x"));
}

TEST_P(DetachedContract, IsNotRenewedInTheBackground) {
  if (!can(&Capabilities::detached, kBrief)) return;
  auto lease = client().acquire("x", kBrief);
  ASSERT_TRUE(lease);
  EXPECT_TRUE(client().acquire("x", {.wait = kPatience}));
  EXPECT_FALSE(lease->ensure_held());
  EXPECT_EQ(lease->state(), LeaseState::lost);
  EXPECT_EQ(lease->loss_reason(), LossReason::expired);
  EXPECT_EQ(lease->renew().error().code, Errc::lost);
  EXPECT_EQ(lease->release(), ReleaseOutcome::already_lost);
}

TEST_P(DetachedContract, RenewOnTheLeaseExtendsIt) {
  if (!can(&Capabilities::detached, kDetached)) return;
  auto lease = client().acquire("x", kDetached);
  ASSERT_TRUE(lease);
  const TimePoint before = lease->valid_until();
  // What is counted is pessimistic by a trip to the engine: the first renewal may come too soon.
  EXPECT_TRUE(eventually([&] { return lease->renew() && lease->valid_until() > before; }));
}

TEST_P(DetachedContract, ReleaseByOwnerIsIdempotent) {
  if (!can(&Capabilities::detached, kDetached)) return;
  const Answer lease = left_behind(kDetached);
  EXPECT_EQ(*client().release("x", lease.owner), ReleaseOutcome::released);
  auto next = client().try_acquire("x");
  ASSERT_TRUE(next);
  ASSERT_TRUE(client().release("x", lease.owner));
  EXPECT_TRUE(next->ensure_held());
  EXPECT_EQ(client().inspect("x")->holders.size(), 1u);
}

TEST_P(DetachedContract, WrongOwnerChangesNothing) {
  if (!can(&Capabilities::detached, kDetached)) return;
  const Answer lease = left_behind(kDetached);
  const Owner stranger = *Owner::parse("00112233445566778899aabbccddeeff");
  const auto renewed = client().renew("x", stranger, 1s);
  ASSERT_FALSE(renewed);
  EXPECT_TRUE(renewed.error().code == Errc::not_found || renewed.error().code == Errc::lost);
  const auto released = client().release("x", stranger);
  EXPECT_TRUE(!released || *released != ReleaseOutcome::released);
  EXPECT_EQ(client().inspect("x")->holders.at(0).token, lease.token);
}

TEST_P(DetachedContract, SessionLeaseCannotBeDetached) {
  auto lease = client().acquire("x");
  ASSERT_TRUE(lease);
  const auto refused = lease->detach();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::unsupported);
  EXPECT_TRUE(lease->ensure_held());
}

}  // namespace
}  // namespace holdfast::contract
