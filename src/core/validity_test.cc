#include "core/validity.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "holdfast/options.h"

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;

TEST(ValidityTest, TakesOnePercentAndTwoMillisecondsOffTheTtl) {
  EXPECT_EQ(drift_allowance(10s), 102ms);
  EXPECT_EQ(deadline_of(TimePoint{5s}, 10s), TimePoint{5s + 9898ms});
}

Millis any_ttl() { return Millis{*rc::gen::inRange(kTtlMin.count(), kTtlMax.count() + 1)}; }

RC_GTEST_PROP(ValidityProperty, TheDeadlineLiesBetweenTheRequestAndTheTtl, ()) {
  const Millis ttl = any_ttl();
  const TimePoint sent_at{};
  RC_ASSERT(deadline_of(sent_at, ttl) > sent_at + ttl * 9 / 10);
  RC_ASSERT(deadline_of(sent_at, ttl) < sent_at + ttl);
}

// The promise of the lease: a server whose clock is 1 % fast does not give the lock away earlier.
RC_GTEST_PROP(ValidityProperty, TheDeadlineComesBeforeAServerOnePercentFastForgets, ()) {
  const Millis ttl = any_ttl();
  const Duration until_forgotten = Duration{ttl} * 100 / 101;
  RC_ASSERT(deadline_of(TimePoint{}, ttl) < TimePoint{until_forgotten});
}

}  // namespace
}  // namespace holdfast::core
