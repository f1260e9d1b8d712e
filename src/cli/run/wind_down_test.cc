#include "cli/run/wind_down.h"

#include <gtest/gtest.h>

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kDeadline{100s};

TEST(WindDownTest, TermComesAGraceBeforeTheDeadline) {
  const WindDown plan = plan_wind_down(kDeadline, 30s, 5s);
  EXPECT_EQ(plan.term_at, kDeadline - 5s);
  EXPECT_EQ(plan.kill_at, kDeadline - 100ms);
}

TEST(WindDownTest, GraceIsAtMostAThirdOfTheTtl) {
  EXPECT_EQ(plan_wind_down(kDeadline, 3s, 5s).term_at, kDeadline - 1s);
}

TEST(WindDownTest, WithoutGraceTheKillIsStillInTime) {
  const WindDown plan = plan_wind_down(kDeadline, 30s, 0s);
  EXPECT_EQ(plan.term_at, plan.kill_at);
  EXPECT_LT(plan.kill_at, kDeadline);
}

TEST(WindDownTest, ShortestTtlLeavesTimeForBoth) {
  const WindDown plan = plan_wind_down(kDeadline, 100ms, 5s);
  EXPECT_EQ(plan.kill_at, kDeadline - 10ms);
  EXPECT_LT(plan.term_at, plan.kill_at);
}

}  // namespace
}  // namespace holdfast::cli
