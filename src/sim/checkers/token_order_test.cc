#include "sim/checkers/token_order.h"

#include <gtest/gtest.h>

#include "sim/checkers/history_builder.h"

namespace holdfast::sim {
namespace {

TEST(TokenOrderTest, AllowsTokensThatRise) {
  EXPECT_TRUE(check_token_order(three_sections()).empty());
}

TEST(TokenOrderTest, FindsALowerTokenForALaterRequest) {
  const Violations found =
      check_token_order(history_of({grant(8, 0, 10, 20), grant(7, 11, 40, 50)}));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].checker, "T2");
  EXPECT_EQ(found[0].what,
            "lock 0: token 7 was asked for at 11 ms, after token 8 had been granted at 10 ms, and "
            "is not higher");
}

TEST(TokenOrderTest, FindsItInWhateverOrderTheHistoryTellsIt) {
  const History history =
      history_of({grant(6, 50, 60, 70), grant(9, 0, 10, 20), grant(7, 20, 30, 40)});
  EXPECT_EQ(check_token_order(history).size(), 2U);
}

TEST(TokenOrderTest, FindsTheSameTokenForALaterRequest) {
  EXPECT_EQ(check_token_order(history_of({grant(7, 0, 10, 20), grant(7, 11, 40, 50)})).size(), 1U);
}

TEST(TokenOrderTest, AllowsEitherOrderForRequestsUnderWayTogether) {
  EXPECT_TRUE(check_token_order(history_of({grant(8, 0, 10, 20), grant(7, 9, 40, 50)})).empty());
  EXPECT_TRUE(check_token_order(history_of({grant(8, 0, 10, 20), grant(7, 10, 40, 50)})).empty());
}

TEST(TokenOrderTest, CountsEachLockForItself) {
  History history = history_of(
      {grant(8, 0, 10, 20), grant(9, 0, 10, 20), grant(7, 30, 40, 50), grant(10, 30, 40, 50)});
  history.acquisitions[1].lock = 1;
  history.acquisitions[3].lock = 1;
  EXPECT_EQ(check_token_order(history).size(), 1U);
  history.acquisitions[2].lock = 2;
  EXPECT_TRUE(check_token_order(history).empty());
  history.acquisitions[3].token = Token{6};
  EXPECT_EQ(check_token_order(history).size(), 1U);
}

TEST(TokenOrderTest, LeavesGrantsWithoutATokenAlone) {
  EXPECT_TRUE(check_token_order(history_of({grant(8, 0, 10, 20), grant(0, 30, 40, 50)})).empty());
}

}  // namespace
}  // namespace holdfast::sim
