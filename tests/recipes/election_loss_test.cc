// Leaders that die, are broken, or cannot renew.

#include <iostream>

#include "recipes/term.h"
#include "tests/recipes/election_bed.h"

namespace holdfast::recipes {
namespace {

using ElectionLossContract = ElectionTest;
HOLDFAST_RECIPE(ElectionLossContract);

// Goal: after the death of a leader another one acts within its TTL and a second.
// Method: another process leads and is killed; what a loaded machine takes longer is allowed for.
TEST_P(ElectionLossContract, AKilledLeaderIsFollowedWithinItsTtl) {
  auto dying = foreign_leader("dying");
  auto bert = stand_in("bert");
  ASSERT_TRUE(is_led_by("dying"));
  const TimePoint killed_at = BootClock::now();
  dying->kill();
  ASSERT_TRUE(eventually([&] { return bert->leads(); }));
  const Duration took = bert->elected_at() - killed_at;
  std::cout << GetParam().name << ": followed a killed leader after "
            << std::chrono::duration<double>(took).count() << " s, its TTL being "
            << std::chrono::duration<double>(ttl()).count() << " s\n";
  constexpr Duration kLoadedMachine = 4s;
  EXPECT_LT(took, ttl() + 1s + kLoadedMachine);
  EXPECT_TRUE(is_led_by("bert"));
}

TEST_P(ElectionLossContract, ABrokenLeaderIsToldWhyAndCampaignsAgain) {
  auto anna = leader("anna");
  const Token before = anna->epoch();
  ASSERT_TRUE(client().break_lock(kName, "test"));
  ASSERT_TRUE(eventually([&] { return anna->losses() == 1; }));
  ASSERT_TRUE(eventually([&] { return anna->terms() == 2; }));
  EXPECT_GT(anna->epoch(), before);
  EXPECT_EQ(anna->loss(), LossReason::broken);
}

// Goal: the work ends before the lease does.
// Method: a lease that nobody renews; at the moment of the stop, time is left on it.
TEST_P(ElectionLossContract, TheWorkIsStoppedBeforeTheLeaseEnds) {
  const AcquireOptions unrenewed{.ttl = 3s, .kind = LeaseKind::detached};
  if (!can(&Capabilities::detached, unrenewed)) return;
  auto lease = client().acquire(kName, unrenewed);
  ASSERT_TRUE(lease);
  const TimePoint valid_until = lease->valid_until();
  const Duration grace = std::min<Duration>(1s, lease->ttl() / 3);
  Term term{client(), "anna", *std::move(lease), 1s};
  std::atomic<TimePoint> stopped_at{TimePoint::max()};
  const std::stop_callback on_stop{term.stop_token(), [&] { stopped_at = BootClock::now(); }};
  ASSERT_TRUE(eventually([&] { return stopped_at.load() < TimePoint::max(); }));
  EXPECT_GE(stopped_at.load(), valid_until - grace) << "not before it has to";
  EXPECT_LT(stopped_at.load(), valid_until) << "and not when it is too late";
}

TEST_P(ElectionLossContract, ALongGraceLeavesTwoThirdsOfTheTtl) {
  auto term = campaign(client(), kName, {.id = "anna", .ttl = ttl(), .grace = 1h});
  ASSERT_TRUE(term) << term.error().message;
  EXPECT_FALSE(term->stop_token().stop_requested());
  EXPECT_TRUE(term->lease().ensure_held());
}

}  // namespace
}  // namespace holdfast::recipes
