#include "sim/checkers/replay.h"

#include <gtest/gtest.h>

#include <utility>

#include "sim/checkers/history_builder.h"

namespace holdfast::sim {
namespace {

TEST(RegisterReplayTest, AllowsReadsThatFindWhatWasWrittenLast) {
  EXPECT_TRUE(check_replay(three_sections()).empty());
}

TEST(RegisterReplayTest, FindsAReadOfAnOldValue) {
  History history = three_sections();
  history.served[7].value = 1;
  history.operations[7].value = 1;
  const Violations found = check_replay(history);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].checker, "G3");
  EXPECT_EQ(found[0].what,
            "lock 0: a read with token 30 found 1 at 311 ms, though the register was 2");
}

TEST(RegisterReplayTest, FindsACallerThatSawAnotherValueThanTheResourceGave) {
  History history = three_sections();
  history.operations[7].value = 1;
  const Violations found = check_replay(history);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].what,
            "lock 0: the read of 1 with token 30, sent at 310 ms and acknowledged at 312 ms, is "
            "not so in the log between the two");
}

TEST(RegisterReplayTest, AllowsACallerThatHeardTheAnswerToARepeatedMessage) {
  HistoryBuilder builder;
  const std::size_t holder = builder.add(grant(1, 0, 10, 100));
  builder.open(holder, 20);
  builder.read(holder, 30);
  builder.repeat(50);
  EXPECT_TRUE(check_replay(builder.finish(1, 1000)).empty());
}

TEST(RegisterReplayTest, FindsAnAcknowledgementOfWhatWasNotAcceptedInTime) {
  History refused = three_sections();
  refused.served[8].verdict = Verdict::refused;
  EXPECT_EQ(check_replay(refused).size(), 1U);
  History never = three_sections();
  never.served.pop_back();
  EXPECT_EQ(check_replay(never).size(), 1U);
  History early = three_sections();
  early.served[8].at = at(319);
  EXPECT_EQ(check_replay(early).size(), 1U);
  History late = three_sections();
  late.served[8].at = at(323);
  EXPECT_EQ(check_replay(late).size(), 1U);
}

TEST(RegisterReplayTest, DemandsNothingOfAnswersThatDidNotCome) {
  History history = three_sections();
  history.operations[8].outcome = Outcome::unknown;
  history.served.pop_back();
  EXPECT_TRUE(check_replay(history).empty());
}

TEST(RegisterReplayTest, FindsARefusalThatIsNotInTheLog) {
  History history = three_sections();
  history.operations[8].outcome = Outcome::refused;
  history.served.back().verdict = Verdict::refused;
  EXPECT_TRUE(check_replay(history).empty());
  history.served.pop_back();
  EXPECT_EQ(check_replay(history).size(), 1U);
  history.operations[8].sent_at = kNever;
  EXPECT_TRUE(check_replay(history).empty());
}

TEST(RegisterReplayTest, TakesARefusedWriteForNone) {
  HistoryBuilder builder;
  const std::size_t holder = builder.add(grant(1, 0, 10, 100));
  builder.stale_write(holder, 20, 7);
  builder.read(holder, 30);
  EXPECT_TRUE(check_replay(builder.finish(1, 1000)).empty());
}

TEST(RegisterReplayTest, FindsALogThatGoesBackInTime) {
  History history = three_sections();
  std::swap(history.served[3], history.served[4]);
  EXPECT_EQ(check_replay(history).size(), 1U);
}

TEST(RegisterReplayTest, KeepsARegisterForEachLock) {
  History history = three_sections();
  for (std::size_t i = 3; i < 6; ++i) history.served[i].lock = 1;
  // Lock 1 has never been written when the second section reads 1 of it, and the third section
  // reads 2 of lock 0, where only the first one wrote.
  EXPECT_EQ(check_replay(history).size(), 2U);
}

}  // namespace
}  // namespace holdfast::sim
