#include "sim/checkers/serial.h"

#include <gtest/gtest.h>

#include "sim/checkers/history_builder.h"

namespace holdfast::sim {
namespace {

TEST(SerialTest, AllowsTokensInTheOrderOfTheGrants) {
  EXPECT_TRUE(check_serial(three_sections()).empty());
}

TEST(SerialTest, AllowsAnyOrderOfRequestsUnderWayTogether) {
  const History history =
      history_of({grant(3, 0, 50, 60), grant(1, 10, 60, 70), grant(2, 50, 70, 80)});
  EXPECT_TRUE(check_serial(history).empty());
}

TEST(SerialTest, FindsAGrantThatNoMomentFits) {
  const Violations found =
      check_serial(history_of({grant(3, 0, 50, 60), grant(1, 51, 70, 80), grant(4, 90, 91, 99)}));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].checker, "L3");
  EXPECT_EQ(found[0].what,
            "lock 0: token 3 was granted at 50 ms, but a lower one was not before 51 ms");
}

// Neither neighbour contradicts it: 1 and 2 could change places in time, and so could 2 and 3.
TEST(SerialTest, FindsAContradictionOverAThirdGrant) {
  const History history =
      history_of({grant(1, 60, 80, 90), grant(2, 0, 100, 110), grant(3, 10, 50, 60)});
  EXPECT_EQ(check_serial(history).size(), 1U);
}

TEST(SerialTest, CountsEachLockForItselfAndSkipsGrantsWithoutATokenAndNone) {
  History history = history_of({grant(3, 0, 50, 60), grant(1, 51, 70, 80)});
  history.acquisitions[1].lock = 1;
  EXPECT_TRUE(check_serial(history).empty());
  EXPECT_TRUE(check_serial(history_of({grant(3, 0, 50, 60), grant(0, 51, 70, 80)})).empty());
  EXPECT_TRUE(check_serial(history_of({grant(3, 0, 50, 60), denied(51, 70)})).empty());
}

}  // namespace
}  // namespace holdfast::sim
