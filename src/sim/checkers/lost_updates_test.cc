#include "sim/checkers/lost_updates.h"

#include <gtest/gtest.h>

#include "sim/checkers/history_builder.h"

namespace holdfast::sim {
namespace {

TEST(LostUpdatesTest, FollowsTheFinalValueBackToTheFirst) {
  EXPECT_TRUE(check_lost_updates(three_sections()).empty());
  EXPECT_EQ(count_lost_updates(three_sections()), 0U);
}

TEST(LostUpdatesTest, FindsAnAcknowledgedWriteThatIsNotOnTheWay) {
  History history = three_sections();
  history.operations[8].based_on = 1;
  const Violations found = check_lost_updates(history);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].checker, "G4");
  EXPECT_EQ(found[0].what,
            "lock 0: the write of 2 over 1 with token 20, acknowledged at 222 ms, is lost");
  EXPECT_EQ(count_lost_updates(history), 1U);
}

TEST(LostUpdatesTest, FindsWhatARegisterThatWentBackHasLost) {
  History history = three_sections();
  history.final_values[0] = 0;
  EXPECT_EQ(check_lost_updates(history).size(), 3U);
  EXPECT_EQ(count_lost_updates(history), 3U);
}

TEST(LostUpdatesTest, AllowsEitherForAWriteWithoutAnAnswer) {
  History history = three_sections();
  history.operations[8].outcome = Outcome::unknown;
  EXPECT_TRUE(check_lost_updates(history).empty());
  history.final_values[0] = 2;
  EXPECT_TRUE(check_lost_updates(history).empty());
}

TEST(LostUpdatesTest, FindsARefusedWriteInTheRegister) {
  History history = three_sections();
  history.operations[8].outcome = Outcome::refused;
  history.served[8].verdict = Verdict::refused;
  const Violations found = check_lost_updates(history);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].what,
            "lock 0: the value 3, on the way back from the final value 3, was never accepted");
  history.final_values[0] = 2;
  EXPECT_TRUE(check_lost_updates(history).empty());
}

TEST(LostUpdatesTest, FindsAValueThatNobodyWrote) {
  History history = three_sections();
  history.final_values[0] = 99;
  EXPECT_EQ(check_lost_updates(history).size(), 4U);
  EXPECT_EQ(count_lost_updates(history), 3U);
}

TEST(LostUpdatesTest, FindsAValueOfAnotherLock) {
  History history = three_sections();
  history.acquisitions[1].lock = 1;
  history.final_values.resize(2);
  EXPECT_EQ(count_lost_updates(history), 2U);
  history.final_values[1] = 2;
  history.operations[5].based_on = 0;
  history.operations[8].based_on = 1;
  EXPECT_TRUE(check_lost_updates(history).empty());
}

TEST(LostUpdatesTest, FindsAWayThatLeadsInACircle) {
  History history = three_sections();
  history.operations[2].based_on = 3;
  const Violations found = check_lost_updates(history);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].what,
            "lock 0: the value 3, on the way back from the final value 3, comes twice");
}

}  // namespace
}  // namespace holdfast::sim
