#include "sim/checkers/unique_tokens.h"

#include <gtest/gtest.h>

#include "sim/checkers/history_builder.h"

namespace holdfast::sim {
namespace {

TEST(UniqueTokensTest, AllowsTokensThatDiffer) {
  EXPECT_TRUE(check_unique_tokens(three_sections()).empty());
}

TEST(UniqueTokensTest, FindsATokenGrantedTwice) {
  const History history =
      history_of({grant(7, 0, 10, 20), grant(8, 30, 40, 50), grant(7, 60, 70, 80)});
  const Violations found = check_unique_tokens(history);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].checker, "T1");
  EXPECT_EQ(found[0].what,
            "lock 0: token 7 was granted twice, at 10 ms to client 0 and at 70 ms to client 0");
}

TEST(UniqueTokensTest, CountsEachLockForItself) {
  History history = history_of({grant(7, 0, 10, 20), grant(7, 30, 40, 50)});
  history.acquisitions[1].lock = 1;
  EXPECT_TRUE(check_unique_tokens(history).empty());
}

TEST(UniqueTokensTest, LeavesRequestsWithoutATokenAlone) {
  EXPECT_TRUE(check_unique_tokens(history_of({grant(0, 0, 10, 20), grant(0, 30, 40, 50)})).empty());
  EXPECT_TRUE(check_unique_tokens(history_of({denied(0, 10), denied(30, 40)})).empty());
}

}  // namespace
}  // namespace holdfast::sim
