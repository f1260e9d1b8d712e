// Handing a leadership over to a candidate of the leader's choice.

#include "core/election.h"
#include "tests/recipes/election_bed.h"

namespace holdfast::recipes {
namespace {

using HandOverContract = ElectionTest;
HOLDFAST_RECIPE(HandOverContract);

TEST_P(HandOverContract, GoesToTheNamedOneWhereverItStandsInTheQueue) {
  auto anna = leader("anna");
  auto first = stand_in("first");
  auto second = stand_in("second");
  auto named = stand_in("named");
  const auto handed = anna->candidate().hand_over("named", kPatience);
  ASSERT_TRUE(handed) << handed.error().message;
  EXPECT_TRUE(is_led_by("named"));
  EXPECT_TRUE(eventually([&] { return named->leads(); }));
  EXPECT_EQ(first->terms() + second->terms(), 0) << "nobody else acted";
  EXPECT_GT(named->epoch(), anna->epoch());
  // The wish was granted once: whoever is next leads then.
  named->leave();
  EXPECT_TRUE(eventually([&] { return first->leads() || second->leads() || anna->leads(); }));
}

TEST_P(HandOverContract, ToOneThatDoesNotWaitIsRefusedAndTheLeaderLeadsOn) {
  if (!serves_in_order()) return;
  auto anna = leader("anna");
  const auto handed = anna->candidate().hand_over("nobody", 1s);
  ASSERT_FALSE(handed);
  EXPECT_EQ(handed.error().code, Errc::not_found);
  EXPECT_TRUE(anna->leads());
  EXPECT_EQ(anna->terms(), 1);
}

TEST_P(HandOverContract, ByOneThatDoesNotLeadIsRefused) {
  auto anna = leader("anna");
  auto bert = stand_in("bert");
  auto carl = stand_in("carl");
  const auto handed = bert->candidate().hand_over("carl", 1s);
  ASSERT_FALSE(handed);
  EXPECT_EQ(handed.error().code, Errc::lost);
  EXPECT_TRUE(is_led_by("anna"));
}

// Goal: a candidate that is named and dead holds up the election for a while and no longer.
// Method: one in a process of its own is killed when it is named; its place in the queue may
// outlive it.
TEST_P(HandOverContract, ANamedOneThatIsDeadHoldsUpNobodyForLong) {
  auto anna = leader("anna");
  auto dead = actor();
  const std::string label = core::to_label({.id = "dead", .value = {}});
  auto waiting = dead->begin_acquire("lease", kName, {.ttl = ttl(), .label = label});
  if (shows_waiters()) {
    ASSERT_TRUE(wait_for_waiters(kName, 1));
  }
  auto bert = stand_in("bert");
  dead->kill();
  // Servers may give it the lock for as long as they do not know.
  static_cast<void>(anna->candidate().hand_over("dead", 500ms));
  anna->leave();
  EXPECT_TRUE(eventually([&] { return bert->leads(); }));
}

}  // namespace
}  // namespace holdfast::recipes
