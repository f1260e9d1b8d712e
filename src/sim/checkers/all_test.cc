#include "sim/checkers/all.h"

#include <gtest/gtest.h>

#include "sim/checkers/history_builder.h"
#include "sim/checkers/sentence.h"

namespace holdfast::sim {
namespace {

/// The sections of a protocol without tokens, the last of which overwrites what the second one
/// wrote.
History unfenced_with_a_lost_update() {
  History history = three_sections();
  for (Acquisition& acquisition : history.acquisitions) acquisition.token = Token{0};
  for (Served& served : history.served) served.token = Token{0};
  history.operations[8].based_on = 1;
  return history;
}

TEST(JudgeTest, CountsLostUpdatesOfAnUnfencedRegister) {
  History history = unfenced_with_a_lost_update();
  history.faults = {{FaultClass::delay, span(0, 1000), 0}};
  const Judgement judgement = judge(history, Register::unfenced);
  EXPECT_TRUE(judgement.violations.empty());
  EXPECT_EQ(judgement.lost_updates, 1U);
}

TEST(JudgeTest, FindsLostUpdatesInAWorldWithoutFaults) {
  const Judgement judgement = judge(unfenced_with_a_lost_update(), Register::unfenced);
  ASSERT_EQ(judgement.violations.size(), 1U);
  EXPECT_EQ(judgement.violations[0].checker, "G4");
  EXPECT_EQ(judgement.violations[0].what, "1 updates were lost, and there was no fault");
}

TEST(JudgeTest, FindsLostUpdatesOfAFencedRegisterWhateverTheFaults) {
  History history = unfenced_with_a_lost_update();
  history.faults = {{FaultClass::delay, span(0, 1000), 0}};
  const Judgement judgement = judge(history, Register::fenced);
  ASSERT_FALSE(judgement.violations.empty());
  EXPECT_EQ(judgement.violations.back().checker, "G4");
  EXPECT_EQ(judgement.lost_updates, 1U);
}

TEST(JudgeTest, FindsGrantsWithoutATokenAtAFencedRegister) {
  History history = three_sections();
  EXPECT_TRUE(judge(history, Register::fenced).violations.empty());
  history.acquisitions[1].token = Token{0};
  const Judgement judgement = judge(history, Register::fenced);
  ASSERT_FALSE(judgement.violations.empty());
  EXPECT_EQ(judgement.violations[0].what, "lock 0: client 1 was given no token");
}

TEST(JudgeTest, DemandsNoFenceOfAnUnfencedRegister) {
  History history = three_sections();
  history.served[3].token = Token{5};
  EXPECT_FALSE(judge(history, Register::fenced).violations.empty());
  EXPECT_TRUE(judge(history, Register::unfenced).violations.empty());
}

TEST(JudgeTest, PassesBreachesOn) {
  History history = three_sections();
  history.acquisitions[0].deadline = at(230);
  history.acquisitions[0].release_called_at = at(230);
  history.faults = {{FaultClass::promotion, span(150, 150), 0}};
  const Judgement judgement = judge(history, Register::fenced);
  EXPECT_TRUE(judgement.violations.empty());
  EXPECT_EQ(judgement.breaches.at(static_cast<std::size_t>(FaultClass::promotion)), 1U);
}

TEST(SentenceTest, WritesTimesInMilliseconds) {
  EXPECT_EQ(in_words(at(0)), "0 ms");
  EXPECT_EQ(in_words(at(1200)), "1200 ms");
  EXPECT_EQ(in_words(Duration{1'500'000}), "1.5 ms");
  EXPECT_EQ(in_words(Duration{42}), "0.000042 ms");
  EXPECT_EQ(in_words(Duration{-1'000'001}), "-1.000001 ms");
  EXPECT_EQ(in_words(kNever), "never");
}

}  // namespace
}  // namespace holdfast::sim
