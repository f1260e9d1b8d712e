#include "engines/etcd/timeline.h"

#include <gtest/gtest.h>

namespace holdfast::etcd {
namespace {

using Course = Timeline::Course;

Header header(Revision revision, std::uint64_t member = 1, std::uint64_t cluster = 7) {
  return {.cluster = cluster, .member = member, .revision = revision};
}

TEST(TimelineTest, GoesOnward) {
  Timeline timeline;
  for (const Revision revision : {5, 5, 9}) {
    EXPECT_EQ(timeline.note(header(revision), timeline.highest()), Course::onward);
  }
  EXPECT_EQ(timeline.highest(), 9);
}

TEST(TimelineTest, ATransactionNeverSeesLessThanWasToldBeforeItLeft) {
  Timeline timeline;
  timeline.note(header(9, 1), timeline.highest());
  EXPECT_EQ(timeline.note(header(8, 2), timeline.highest()), Course::back);
}

TEST(TimelineTest, AnswersMayOvertakeEachOther) {
  Timeline timeline;
  const Revision before = timeline.highest();
  timeline.note(header(9), before);
  EXPECT_EQ(timeline.note(header(8), before), Course::onward);
  EXPECT_EQ(timeline.highest(), 9);
}

TEST(TimelineTest, AnotherMemberMayBeBehind) {
  Timeline timeline;
  timeline.note(header(9, 1), timeline.now());
  EXPECT_EQ(timeline.note(header(5, 2), timeline.now()), Course::behind);
  EXPECT_EQ(timeline.note(header(9, 2), timeline.now()), Course::onward);
}

TEST(TimelineTest, AMemberNeverGoesBack) {
  Timeline timeline;
  timeline.note(header(9, 1), timeline.now());
  EXPECT_EQ(timeline.note(header(8, 1), timeline.now()), Course::back);
}

TEST(TimelineTest, AnotherClusterIsAnotherState) {
  Timeline timeline;
  timeline.note(header(5), timeline.now());
  EXPECT_EQ(timeline.note(header(9, 1, 8), timeline.now()), Course::back);
}

TEST(TimelineTest, WhatWentBackIsToldOnce) {
  Timeline timeline;
  timeline.note(header(9), timeline.now());
  EXPECT_EQ(timeline.note(header(3), timeline.highest()), Course::back);
  EXPECT_EQ(timeline.note(header(4), timeline.highest()), Course::onward);
  EXPECT_EQ(timeline.note(header(4, 1), timeline.now()), Course::onward);
}

}  // namespace
}  // namespace holdfast::etcd
