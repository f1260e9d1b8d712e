#include "lab/timeline.h"

#include <gtest/gtest.h>

#include "lab/bank.h"
#include "lab/naive.h"
#include "lab/pause.h"
#include "lab/sample_scenes.h"
#include "lab/time_axis.h"

namespace holdfast::lab {
namespace {

using std::chrono::milliseconds;

TEST(TimelineTest, AStoppedHolderBelievesUntilItIsTold) {
  const Scene scene = late_write_accepted();
  const auto spans = beliefs(scene);
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(spans[0].who, Who::a);
  EXPECT_EQ(spans[0].from, milliseconds{1});
  EXPECT_EQ(spans[0].to, milliseconds{320});
  const auto stopped = pauses(scene);
  ASSERT_EQ(stopped.size(), 1U);
  EXPECT_EQ(stopped[0].to - stopped[0].from, milliseconds{306});
  const auto both = overlap(scene);
  ASSERT_TRUE(both);
  EXPECT_EQ(both->from, milliseconds{305});
  EXPECT_EQ(both->to, milliseconds{320});
}

TEST(TimelineTest, ARefusalEndsTheBelief) {
  const Scene scene = late_write_refused();
  EXPECT_EQ(beliefs(scene).at(0).to, milliseconds{315});
}

TEST(TimelineTest, LossIsCountedFromWhatHappened) {
  const Tally unfenced = tally(late_write_accepted());
  EXPECT_EQ(unfenced.accepted, 2);
  EXPECT_EQ(unfenced.refused, 0);
  EXPECT_EQ(unfenced.lost, 1);
  const Tally fenced = tally(late_write_refused());
  EXPECT_EQ(fenced.accepted, 1);
  EXPECT_EQ(fenced.refused, 1);
  EXPECT_EQ(fenced.lost, 0);
}

TEST(TimelineTest, AnOverwriteNamesItsVictim) {
  const Scene scene = late_write_accepted();
  const auto found = overwrites(scene);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(scene.events[found[0].by].who, Who::a);
  EXPECT_EQ(scene.events[found[0].victim].who, Who::b);
  EXPECT_TRUE(overwrites(late_write_refused()).empty());
}

TEST(TimelineTest, ShortTokensKeepTheirOrder) {
  const TokenNames names{late_write_refused()};
  EXPECT_EQ(names(kTokenA), "…0998");
  EXPECT_EQ(names(kTokenB), "…1003");
  EXPECT_EQ(names(std::nullopt), "");
}

TEST(TimelineTest, AStoryThatEndsOtherwiseIsADifference) {
  PauseReport report;
  report.takes.push_back({.story = PauseStory::late_write, .scene = late_write_accepted()});
  EXPECT_TRUE(report.differences().empty());
  report.takes[0].scene.final_value = 2;
  EXPECT_EQ(report.differences().size(), 1U);
  report.takes[0].scene = late_write_refused();
  EXPECT_TRUE(report.differences().empty());
  report.takes[0].scene.final_value = 0;
  EXPECT_EQ(report.differences().size(), 1U);
}

TEST(TimelineTest, BooksThatDoNotBalanceAreADifferenceWhereTheyMust) {
  BankReport report;
  report.takes.push_back({.variant = BankVariant::locked, .scene = withdrawn_twice()});
  EXPECT_EQ(report.takes[0].paid_out(), 160);
  EXPECT_EQ(report.takes[0].created(), 80);
  EXPECT_TRUE(report.differences().empty());
  report.takes[0].variant = BankVariant::fenced;
  EXPECT_FALSE(report.differences().empty());
}

TEST(TimelineTest, ANaiveRunThatLosesNothingIsNotValid) {
  NaiveReport report{.naive = {.accepted = {5, 5}, .final_value = 9},
                     .holdfast = {.accepted = {5, 5}, .final_value = 10}};
  EXPECT_TRUE(report.differences().empty());
  report.naive.final_value = 10;
  EXPECT_EQ(report.differences().size(), 1U);
  report.holdfast.final_value = 8;
  EXPECT_EQ(report.differences().size(), 2U);
}

TEST(TimeAxisTest, PlacesRiseWithinTheEdges) {
  const TimeAxis axis{{Millis{0}, Millis{1}, Millis{2}, Millis{400}}, 100, 500};
  EXPECT_DOUBLE_EQ(axis.x(Millis{0}), 100);
  EXPECT_DOUBLE_EQ(axis.x(Millis{400}), 500);
  double last = 99;
  for (const int ms : {0, 1, 2, 3, 200, 399, 400}) {
    const double x = axis.x(Millis{ms});
    EXPECT_GT(x, last) << ms;
    last = x;
  }
  EXPECT_DOUBLE_EQ(axis.x(Millis{401}), 500);
  EXPECT_GT(axis.x(Millis{1}) - axis.x(Millis{0}), 40) << "a millisecond can still be seen";
}

TEST(TimeAxisTest, OneMomentOrNoneHasAPlace) {
  EXPECT_DOUBLE_EQ((TimeAxis{{}, 10, 20}.x(Millis{5})), 10);
  EXPECT_DOUBLE_EQ((TimeAxis{{Millis{5}}, 10, 20}.x(Millis{5})), 10);
}

}  // namespace
}  // namespace holdfast::lab
