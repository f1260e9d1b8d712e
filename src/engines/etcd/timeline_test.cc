#include "engines/etcd/timeline.h"

#include <gtest/gtest.h>

namespace holdfast::etcd {
namespace {

using Course = Timeline::Course;

Header header(Revision revision, std::uint64_t member = 1, std::uint64_t cluster = 7) {
  return {.cluster = cluster, .member = member, .revision = revision, .term = 2};
}

Header in_term(std::uint64_t term, Revision revision, std::uint64_t member = 1) {
  return {.cluster = 7, .member = member, .revision = revision, .term = term};
}

TEST(TimelineTest, GoesOnward) {
  Timeline timeline;
  for (const Revision revision : {5, 5, 9}) {
    EXPECT_EQ(timeline.note(header(revision), timeline.now()), Course::onward);
  }
  EXPECT_EQ(timeline.now().highest, 9);
}

TEST(TimelineTest, ATransactionNeverSeesLessThanWasToldBeforeItLeft) {
  Timeline timeline;
  timeline.note(header(9, 1), timeline.now());
  EXPECT_EQ(timeline.note(header(8, 2), timeline.now()), Course::back);
}

TEST(TimelineTest, AnswersMayOvertakeEachOther) {
  Timeline timeline;
  const Timeline::Moment before = timeline.now();
  timeline.note(header(9), before);
  EXPECT_EQ(timeline.note(header(8), before), Course::onward);
  EXPECT_EQ(timeline.now().highest, 9);
}

TEST(TimelineTest, AnotherMemberMayBeBehind) {
  Timeline timeline;
  timeline.note(header(9, 1), timeline.detail());
  EXPECT_EQ(timeline.note(header(5, 2), timeline.detail()), Course::behind);
  EXPECT_EQ(timeline.note(header(9, 2), timeline.detail()), Course::onward);
}

TEST(TimelineTest, AMemberNeverGoesBack) {
  Timeline timeline;
  timeline.note(header(9, 1), timeline.detail());
  EXPECT_EQ(timeline.note(header(8, 1), timeline.detail()), Course::back);
}

TEST(TimelineTest, AnotherClusterIsAnotherState) {
  Timeline timeline;
  timeline.note(header(5), timeline.detail());
  EXPECT_EQ(timeline.note(header(9, 1, 8), timeline.detail()), Course::back);
}

// Others have written more since the restore than was known before.
TEST(TimelineTest, AMemberNeverGoesBackToAnEarlierTerm) {
  Timeline timeline;
  timeline.note(in_term(5, 9), timeline.detail());
  EXPECT_EQ(timeline.note(in_term(2, 30), timeline.detail()), Course::back);
  EXPECT_EQ(timeline.note(in_term(2, 31), timeline.detail()), Course::onward);
  timeline.note(in_term(6, 40), timeline.now());
  EXPECT_EQ(timeline.note(in_term(2, 50), timeline.now()), Course::back);
  EXPECT_EQ(timeline.note(in_term(2, 51), timeline.now()), Course::onward);
}

TEST(TimelineTest, AnAnswerOfAnEarlierTermMayArriveLater) {
  Timeline timeline;
  timeline.note(in_term(5, 9), timeline.detail());
  const Timeline::Detail before = timeline.detail();
  timeline.note(in_term(6, 10), before);
  EXPECT_EQ(timeline.note(in_term(5, 9), before), Course::onward);
  EXPECT_EQ(timeline.note(in_term(5, 10), before.moment), Course::onward);
  EXPECT_EQ(timeline.note(in_term(5, 11), timeline.detail()), Course::back);
}

// One that is cut off stands for election again and again.
TEST(TimelineTest, TermsOfDifferentMembersAreNotCompared) {
  Timeline timeline;
  timeline.note(in_term(8, 9, 1), timeline.detail());
  EXPECT_EQ(timeline.note(in_term(5, 9, 2), timeline.detail()), Course::onward);
  EXPECT_EQ(timeline.note(in_term(5, 10, 2), timeline.now()), Course::onward);
}

TEST(TimelineTest, WhatWentBackIsToldOnce) {
  Timeline timeline;
  timeline.note(header(9), timeline.detail());
  EXPECT_EQ(timeline.note(header(3), timeline.now()), Course::back);
  EXPECT_EQ(timeline.note(header(4), timeline.now()), Course::onward);
  EXPECT_EQ(timeline.note(header(4, 1), timeline.detail()), Course::onward);
}

}  // namespace
}  // namespace holdfast::etcd
