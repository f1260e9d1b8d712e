#include "sim/checkers/progress.h"

#include <gtest/gtest.h>

#include "sim/checkers/history_builder.h"

namespace holdfast::sim {
namespace {

/// A request for an answer by 100 ms that was answered at `returned_ms`.
History answered(std::int64_t returned_ms) {
  History history = history_of({denied(0, returned_ms)});
  history.acquisitions[0].answer_by = at(100);
  history.pauses.resize(1);
  return history;
}

TEST(ProgressTest, AllowsAnswersInTime) {
  EXPECT_TRUE(check_progress(three_sections()).empty());
  EXPECT_TRUE(check_progress(answered(101)).empty());
}

TEST(ProgressTest, FindsALateAnswer) {
  const Violations found = check_progress(answered(102));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].checker, "V1");
  EXPECT_EQ(found[0].what,
            "lock 0: client 0 asked at 0 ms for an answer by 100 ms, due at 101 ms with its "
            "pauses, and had it at 102 ms");
}

TEST(ProgressTest, FindsARequestWithoutAnAnswer) {
  History history = history_of({waiting(0, 100)});
  EXPECT_EQ(check_progress(history).size(), 1U);
  history.ended_at = at(101);
  EXPECT_TRUE(check_progress(history).empty());
}

TEST(ProgressTest, DemandsNothingOfAWaitWithoutEnd) {
  History history = history_of({waiting(0, 100)});
  history.acquisitions[0].answer_by = kNever;
  EXPECT_TRUE(check_progress(history).empty());
}

TEST(ProgressTest, GivesBackTheTimeThatTheCallerWasPaused) {
  History history = answered(131);
  history.pauses[0] = {span(20, 30), span(90, 110), span(140, 900)};
  EXPECT_TRUE(check_progress(history).empty());
  history.acquisitions[0].returned_at = at(132);
  EXPECT_EQ(check_progress(history).size(), 1U);
}

TEST(ProgressTest, CountsOfAPauseOnlyWhatFellIntoTheWait) {
  History begun_before = answered(112);
  begun_before.pauses[0] = {span(-50, 10)};
  EXPECT_EQ(check_progress(begun_before).size(), 1U);
  History outlasting = answered(112);
  outlasting.pauses[0] = {span(102, 200)};
  EXPECT_EQ(check_progress(outlasting).size(), 1U);
}

TEST(ProgressTest, FindsAReleaseThatTakesTooLong) {
  Acquisition lease = grant(1, 0, 10, 100);
  lease.release_by = at(150);
  lease.release_returned_at = at(150);
  EXPECT_TRUE(check_progress(history_of({lease})).empty());
  lease.release_returned_at = at(152);
  EXPECT_EQ(check_progress(history_of({lease})).size(), 1U);
  lease.release_returned_at = kNever;
  EXPECT_EQ(check_progress(history_of({lease})).size(), 1U);
  History crashed = history_of({lease});
  crashed.faults = {{FaultClass::crash, span(120, 130), 0}};
  EXPECT_TRUE(check_progress(crashed).empty());
}

TEST(ProgressTest, ExcusesWhoDiedWaiting) {
  History history = history_of({waiting(10, 100)});
  history.faults = {{FaultClass::crash, span(50, 60), 0}};
  EXPECT_TRUE(check_progress(history).empty());
  history.faults[0].when = span(5, 8);
  EXPECT_EQ(check_progress(history).size(), 1U);
  history.faults[0] = {FaultClass::crash, span(50, 60), 1};
  EXPECT_EQ(check_progress(history).size(), 1U);
  history.faults[0] = {FaultClass::restart, span(50, 60), 0};
  EXPECT_EQ(check_progress(history).size(), 1U);
}

}  // namespace
}  // namespace holdfast::sim
