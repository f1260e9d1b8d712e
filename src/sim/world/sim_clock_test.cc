#include "sim/world/sim_clock.h"

#include <gtest/gtest.h>

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;

TEST(SimClockTest, ShowsItsOffsetAndRunsTrue) {
  const SimClock clock{5s};
  EXPECT_EQ(clock.at(TimePoint{0s}), 5s);
  EXPECT_EQ(clock.at(TimePoint{7s}), 12s);
}

TEST(SimClockTest, AChangeOfRateDoesNotMakeItJump) {
  SimClock clock{1s};
  clock.set_rate(TimePoint{10s}, ClockRate{100'000});
  EXPECT_EQ(clock.at(TimePoint{10s}), 11s);
  EXPECT_EQ(clock.at(TimePoint{20s}), 22s);
  clock.set_rate(TimePoint{20s}, ClockRate{-500'000});
  EXPECT_EQ(clock.at(TimePoint{22s}), 23s);
}

TEST(SimClockTest, AStepMovesIt) {
  SimClock clock;
  clock.step(-3s);
  EXPECT_EQ(clock.at(TimePoint{10s}), 7s);
}

// Goal: a sleeper wakes when its own clock says so, neither before nor a nanosecond late.
TEST(SimClockTest, WhenIsTheFirstTimeThatShowsIt) {
  for (const std::int64_t ppm : {-300'000, -9'999, -1, 0, 1, 7'777, 250'000}) {
    SimClock clock{12'345ns};
    clock.set_rate(TimePoint{999ns}, ClockRate{ppm});
    for (const Duration local : {20'000ns, 123'456'789ns, 987'654'321'012ns}) {
      const TimePoint when = clock.when(local);
      EXPECT_GE(clock.at(when), local) << ppm;
      EXPECT_LT(clock.at(when - 1ns), local) << ppm;
    }
  }
}

}  // namespace
}  // namespace holdfast::sim
