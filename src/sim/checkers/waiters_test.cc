#include "sim/checkers/waiters.h"

#include <gtest/gtest.h>

#include <utility>

#include "sim/checkers/history_builder.h"

namespace holdfast::sim {
namespace {

/// Of a world that healed at 500 ms and ended at 1000 ms.
History healed(std::vector<Acquisition> acquisitions) {
  History history = history_of(std::move(acquisitions));
  history.healed_at = at(500);
  history.ended_at = at(1000);
  return history;
}

TEST(WaitersTest, AllowsAWorldInWhichEveryoneWasServed) {
  EXPECT_TRUE(check_waiters(healed({denied(0, 20), grant(1, 500, 510, 600)})).empty());
}

TEST(WaitersTest, FindsAWaiterThatWasForgotten) {
  const Violations found = check_waiters(healed({waiting(100, 5000)}));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].checker, "waiter");
  EXPECT_EQ(found[0].what,
            "lock 0: client 0 asked at 100 ms in a world that healed at 500 ms and had its answer "
            "never");
  EXPECT_EQ(check_waiters(healed({waiting(600, 5000)})).size(), 1U);
  EXPECT_TRUE(check_waiters(healed({waiting(1000, 5000)})).empty());
}

TEST(WaitersTest, FindsARequestDeniedInAHealedWorld) {
  const Violations found = check_waiters(healed({denied(501, 510)}));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].what,
            "lock 0: client 0 asked at 501 ms in a world that healed at 500 ms and was denied at "
            "510 ms");
  EXPECT_TRUE(check_waiters(healed({denied(500, 510)})).empty());
}

TEST(WaitersTest, ExcusesWhoDiedWaiting) {
  History history = healed({waiting(100, 5000)});
  history.faults = {{FaultClass::crash, span(100, 160), 0}};
  EXPECT_TRUE(check_waiters(history).empty());
  history.faults[0].when = span(50, 60);
  EXPECT_EQ(check_waiters(history).size(), 1U);
}

TEST(WaitersTest, FindsATaskThatDoesNotEnd) {
  History history = healed({});
  EXPECT_TRUE(check_waiters(history).empty());
  history.idle = false;
  EXPECT_EQ(check_waiters(history).size(), 1U);
}

TEST(WaitersTest, JudgesNothingInAWorldThatDidNotHeal) {
  History history = healed({waiting(100, 5000), denied(600, 700)});
  history.healed_at = kNever;
  EXPECT_TRUE(check_waiters(history).empty());
}

}  // namespace
}  // namespace holdfast::sim
