// Values on an axis of powers of ten.

#include "lab/log_axis.h"

#include <gtest/gtest.h>

#include <cmath>

namespace holdfast::lab {
namespace {

TEST(LogAxisTest, EveryPowerOfTenIsAStep) {
  const LogAxis axis{{0.004, 1}, 300, 0};
  EXPECT_DOUBLE_EQ(axis.at(1), 0);
  EXPECT_DOUBLE_EQ(axis.at(0.1), 100);
  EXPECT_DOUBLE_EQ(axis.at(0.001), 300);
}

TEST(LogAxisTest, PowersOfTenAreEdgesThemselves) {
  for (int exponent = -30; exponent < 12; ++exponent) {
    const double power = std::pow(10.0, exponent);
    const LogAxis axis{{power, power * 10}, 0, 100};
    EXPECT_EQ(axis.marks(9), (std::vector<int>{exponent + 1, exponent}));
    EXPECT_NEAR(axis.at(power), 0, 1e-6);
    EXPECT_NEAR(axis.at(power * 10), 100, 1e-6);
  }
}

TEST(LogAxisTest, OneValueMakesAStep) {
  const LogAxis axis{{100, 100}, 0, 50};
  EXPECT_EQ(axis.marks(9), (std::vector<int>{3, 2}));
  EXPECT_DOUBLE_EQ(axis.at(100), 0);
}

TEST(LogAxisTest, WhatIsBeyondStandsAtTheEdge) {
  const LogAxis axis{{1, 1000}, 10, 40};
  EXPECT_DOUBLE_EQ(axis.at(1e-9), 10);
  EXPECT_DOUBLE_EQ(axis.at(1e9), 40);
}

TEST(LogAxisTest, ManyStepsAreMarkedEvenly) {
  const LogAxis axis{{1e-24, 1}, 0, 100};
  const auto marks = axis.marks(12);
  EXPECT_LE(marks.size(), 12U);
  EXPECT_EQ(marks.front(), 0);
  for (std::size_t i = 1; i < marks.size(); ++i) {
    EXPECT_EQ(marks[i - 1] - marks[i], marks[0] - marks[1]);
  }
}

TEST(LogAxisTest, PowersAreWrittenRaised) {
  EXPECT_EQ(power_of_ten(0), "10⁰");
  EXPECT_EQ(power_of_ten(-12), "10⁻¹²");
  EXPECT_EQ(power_of_ten(3), "10³");
}

}  // namespace
}  // namespace holdfast::lab
