#include "core/session_clock.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/validity.h"
#include "holdfast/options.h"

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;

constexpr Duration kTtl = 9s;

TEST(SessionClockTest, RenewsAtAThirdAndIsInJeopardyAtTwoThirds) {
  const SessionClock clock{TimePoint{100s}, kTtl};
  EXPECT_EQ(clock.renew_at(), TimePoint{103s});
  EXPECT_EQ(clock.jeopardy_at(), TimePoint{106s});
  EXPECT_EQ(clock.deadline(), deadline_of(TimePoint{100s}, kTtl));
}

TEST(SessionClockTest, PassesFromHeldThroughJeopardyToLost) {
  const SessionClock clock{TimePoint{}, kTtl};
  EXPECT_EQ(clock.state(TimePoint{}), LeaseState::held);
  EXPECT_EQ(clock.state(clock.jeopardy_at() - 1ns), LeaseState::held);
  EXPECT_EQ(clock.state(clock.jeopardy_at()), LeaseState::jeopardy);
  EXPECT_EQ(clock.state(clock.deadline() - 1ns), LeaseState::jeopardy);
  EXPECT_EQ(clock.state(clock.deadline()), LeaseState::lost);
}

TEST(SessionClockTest, AnAcknowledgedRenewalCountsFromWhenItWasSent) {
  SessionClock clock{TimePoint{}, kTtl};
  clock.renewed(TimePoint{3s}, kTtl);
  EXPECT_EQ(clock.deadline(), deadline_of(TimePoint{3s}, kTtl));
  EXPECT_EQ(clock.state(TimePoint{8s}), LeaseState::held);
}

TEST(SessionClockTest, ALateAcknowledgementOfAnOlderRenewalChangesNothing) {
  SessionClock clock{TimePoint{}, kTtl};
  clock.renewed(TimePoint{4s}, kTtl);
  clock.renewed(TimePoint{3s}, kTtl);
  EXPECT_EQ(clock.deadline(), deadline_of(TimePoint{4s}, kTtl));
}

TEST(SessionClockTest, AFailureMovesTheNextRenewalButNotTheDeadline) {
  SessionClock clock{TimePoint{}, kTtl};
  clock.renewal_failed(TimePoint{5s});
  EXPECT_EQ(clock.renew_at(), TimePoint{5s});
  clock.renewal_failed(TimePoint{60s});
  EXPECT_EQ(clock.renew_at(), clock.deadline());
  EXPECT_EQ(clock.deadline(), deadline_of(TimePoint{}, kTtl));
}

TEST(SessionClockTest, WhatCountsFromEarlierEndsEarlierButIsRenewedAsUsual) {
  SessionClock clock{TimePoint{}, kTtl};
  clock.renewed({TimePoint{4s}, TimePoint{1s}}, kTtl);
  EXPECT_EQ(clock.deadline(), deadline_of(TimePoint{1s}, kTtl));
  EXPECT_EQ(clock.renew_at(), TimePoint{4s} + kTtl / 3);
  EXPECT_EQ(clock.jeopardy_at(), TimePoint{4s} + kTtl / 2);
}

RC_GTEST_PROP(SessionClockProperty,
              TheDeadlineNeverGoesBack,
              (const std::vector<std::uint16_t>& ms)) {
  SessionClock clock{TimePoint{}, kTtl};
  for (const std::uint16_t sent : ms) {
    const TimePoint before = clock.deadline();
    clock.renewed(TimePoint{Millis{sent}}, kTtl);
    RC_ASSERT(clock.deadline() >= before);
  }
}

RC_GTEST_PROP(SessionClockProperty, MilestonesAreInOrderForEveryTtl, ()) {
  const Millis ttl{*rc::gen::inRange(kTtlMin.count(), kTtlMax.count() + 1)};
  const SessionClock clock{TimePoint{}, ttl};
  RC_ASSERT(TimePoint{} < clock.renew_at());
  RC_ASSERT(clock.renew_at() < clock.jeopardy_at());
  RC_ASSERT(clock.jeopardy_at() < clock.deadline());
}

}  // namespace
}  // namespace holdfast::core
