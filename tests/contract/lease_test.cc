// The life of a lease: renewed, lost, released.

#include <algorithm>

#include "tests/contract/contract.h"

namespace holdfast::contract {
namespace {

using LeaseContract = ContractTest;
HOLDFAST_CONTRACT(LeaseContract);

TEST_P(LeaseContract, DescribesItself) {
  auto lease = client().acquire("x", {.ttl = 5s});
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->name(), "x");
  EXPECT_EQ(lease->mode(), Mode::exclusive);
  EXPECT_EQ(lease->ttl(), 5s);
  EXPECT_EQ(lease->state(), LeaseState::held);
  EXPECT_EQ(lease->loss_reason(), LossReason::none);
  EXPECT_GT(lease->valid_for(), 0s);
  // Counted from before the request, less the allowance for drift.
  EXPECT_LE(lease->valid_for(), 5s - 52ms);
  EXPECT_FALSE(lease->stop_token().stop_requested());
}

TEST_P(LeaseContract, RenewalKeepsItForManyTtls) {
  auto a = actor();
  ASSERT_TRUE(a->acquire("lease", "x", {.ttl = 300ms}).granted());
  EXPECT_EQ(client().acquire("x", {.wait = 3s}).error().code, Errc::timeout);
  const LeaseView view = a->view("lease");
  EXPECT_TRUE(view.ensure_held);
  EXPECT_EQ(view.loss_events, 0);
  EXPECT_EQ(a->release("lease"), "released");
}

TEST_P(LeaseContract, RenewExtendsTheDeadline) {
  auto lease = client().acquire("x", {.ttl = 30s});
  ASSERT_TRUE(lease);
  const TimePoint before = lease->valid_until();
  ASSERT_TRUE(lease->renew());
  EXPECT_GT(lease->valid_until(), before);
}

TEST_P(LeaseContract, ReleaseIsIdempotent) {
  auto lease = client().acquire("x");
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->release(), ReleaseOutcome::released);
  auto next = client().try_acquire("x");
  ASSERT_TRUE(next);
  EXPECT_EQ(lease->release(), ReleaseOutcome::released);
  EXPECT_EQ(lease->state(), LeaseState::released);
  EXPECT_EQ(lease->valid_for(), 0s);
  EXPECT_FALSE(lease->ensure_held());
  EXPECT_EQ(lease->renew().error().code, Errc::lost);
  // The second release and the destructor must not touch the next holder.
  EXPECT_TRUE(next->ensure_held());
  EXPECT_EQ(client().inspect("x")->holders.size(), 1u);
}

TEST_P(LeaseContract, PausedHolderLosesItAndKnowsWhenItWakes) {
  auto a = actor();
  auto b = actor();
  const Answer first = a->acquire("lease", "x", {.ttl = 300ms});
  ASSERT_TRUE(first.granted());
  PendingAnswer pending = b->begin_acquire("lease", "x");
  ASSERT_TRUE(wait_for_waiters("x", 1));
  a->pause();
  const Answer second = pending.get();
  ASSERT_TRUE(second.granted()) << second.message;
  EXPECT_GT(second.token, first.token);
  a->resume();
  // The very first look after the pause: no thread of the library need have run before.
  const LeaseView view = a->view("lease");
  EXPECT_FALSE(view.ensure_held);
  EXPECT_EQ(view.state, "lost");
  EXPECT_EQ(view.reason, "expired");
  EXPECT_LE(view.valid_until, second.granted_at);
  EXPECT_TRUE(eventually([&] { return a->view("lease").stop_requested; }));
  EXPECT_TRUE(eventually([&] { return a->view("lease").loss_events > 0; }));
  EXPECT_EQ(a->view("lease").loss_events, 1);
  EXPECT_EQ(a->release("lease"), "already_lost");
  EXPECT_EQ(a->release("lease"), "already_lost");
  EXPECT_TRUE(b->view("lease").ensure_held);
}

TEST_P(LeaseContract, PausedReadersLoseItToAWriter) {
  if (!can(&Capabilities::shared, {.mode = Mode::shared})) return;
  auto a = actor();
  auto b = actor();
  ASSERT_TRUE(a->acquire("lease", "x", {.mode = Mode::shared, .ttl = 300ms}).granted());
  ASSERT_TRUE(b->acquire("lease", "x", {.mode = Mode::shared}).granted());
  a->pause();
  b->release("lease");
  EXPECT_TRUE(client().acquire("x", {.wait = kPatience}));
  a->resume();
  EXPECT_FALSE(a->view("lease").ensure_held);
}

// The deadline always passes first. That the signal comes first as well is promised while the
// process runs, and this machine may not let it run just then: most rounds must be in order.
TEST_P(LeaseContract, LossIsSignalledBeforeAnotherIsGranted) {
  if (!can(&Capabilities::detached, {.kind = LeaseKind::detached})) return;
  constexpr int kRounds = 5;
  auto a = actor();
  auto b = actor();
  int in_order = 0;
  Duration late{0};
  for (int round = 0; round < kRounds; ++round) {
    // Nothing renews it: it is lost to the clock while its process runs.
    const Answer first = a->acquire("lease", "x", {.ttl = 500ms, .kind = LeaseKind::detached});
    ASSERT_TRUE(first.granted()) << first.message;
    const Answer second = b->acquire("lease", "x");
    ASSERT_TRUE(second.granted()) << second.message;
    EXPECT_LE(first.valid_until, second.granted_at);
    ASSERT_TRUE(eventually([&] { return a->view("lease").loss_events > 0; }));
    const LeaseView view = a->view("lease");
    EXPECT_EQ(view.state, "lost");
    EXPECT_EQ(view.reason, "expired");
    late = std::max(late, view.lost_at - second.granted_at);
    if (view.lost_at <= second.granted_at) ++in_order;
    a->drop("lease");
    ASSERT_EQ(b->release("lease"), "released");
  }
  EXPECT_GT(in_order, kRounds / 2) << "late by up to " << late.count() << " ns";
}

TEST_P(LeaseContract, HolderThatExitsWithoutReleasingPassesItOn) {
  auto a = actor();
  ASSERT_TRUE(a->acquire("lease", "x", {.ttl = GetParam().ttl_of_the_dying}).granted());
  a->quit();
  EXPECT_TRUE(client().acquire("x", {.wait = kPatience}));
}

TEST_P(LeaseContract, EveryLeaseOfAKilledProcessIsFreed) {
  auto a = actor();
  for (int i = 0; i < 20; ++i) {
    const std::string name = "x" + std::to_string(i);
    ASSERT_TRUE(a->acquire(name, name, {.ttl = GetParam().ttl_of_the_dying}).granted());
  }
  a->kill();
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(client().acquire("x" + std::to_string(i), {.wait = kPatience}));
  }
}

TEST_P(LeaseContract, EventCallbackMayRelease) {
  auto lease = client().acquire("x", {.ttl = 3s});
  ASSERT_TRUE(lease);
  std::promise<ReleaseOutcome> outcome;
  lease->on_event([&](const LeaseEvent& event) {
    if (event.state == LeaseState::lost) outcome.set_value(lease->release());
  });
  ASSERT_TRUE(operator_client().break_lock("x", "test"));
  auto answer = outcome.get_future();
  ASSERT_EQ(answer.wait_for(kPatience), std::future_status::ready);
  EXPECT_EQ(answer.get(), ReleaseOutcome::already_lost);
}

TEST_P(LeaseContract, ManyLeasesAreRenewedTogether) {
  auto a = actor();
  constexpr int kLeases = 100;
  for (int i = 0; i < kLeases; ++i) {
    const std::string name = "x" + std::to_string(i);
    ASSERT_TRUE(a->acquire(name, name, {.ttl = 500ms}).granted());
  }
  EXPECT_EQ(client().acquire("x0", {.wait = 2s}).error().code, Errc::timeout);
  for (int i = 0; i < kLeases; ++i) {
    EXPECT_TRUE(a->view("x" + std::to_string(i)).ensure_held) << i;
  }
}

}  // namespace
}  // namespace holdfast::contract
