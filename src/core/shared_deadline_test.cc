#include "core/shared_deadline.h"

#include <gtest/gtest.h>

#include <thread>

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kStart{1h};

TEST(SharedDeadlineTest, PassesAtItsTime) {
  SharedDeadline deadline{kStart};
  EXPECT_EQ(deadline.until(), kStart);
  EXPECT_FALSE(deadline.has_passed(kStart - 1ns));
  EXPECT_TRUE(deadline.has_passed(kStart));
  EXPECT_EQ(deadline.until(), TimePoint{});
}

TEST(SharedDeadlineTest, MovesForwardOnly) {
  SharedDeadline deadline{kStart};
  EXPECT_TRUE(deadline.extend_to(kStart + 1s));
  EXPECT_TRUE(deadline.extend_to(kStart));
  EXPECT_EQ(deadline.until(), kStart + 1s);
}

TEST(SharedDeadlineTest, IsNotMovedOnceItWasSeenToPass) {
  SharedDeadline deadline{kStart};
  ASSERT_TRUE(deadline.has_passed(kStart));
  EXPECT_FALSE(deadline.extend_to(kStart + 1h));
  EXPECT_TRUE(deadline.has_passed(kStart - 1h));
}

// Goal: of a look that finds it passed and a renewal at the same time, one wins for everybody.
TEST(SharedDeadlineTest, LookAndRenewalAgree) {
  constexpr int kRounds = 2000;
  for (int round = 0; round < kRounds; ++round) {
    SharedDeadline deadline{kStart};
    bool extended = false;
    std::thread keeper{[&] { extended = deadline.extend_to(kStart + 1s); }};
    const bool passed = deadline.has_passed(kStart);
    keeper.join();
    ASSERT_NE(extended, passed);
    ASSERT_EQ(deadline.has_passed(kStart), passed);
  }
}

}  // namespace
}  // namespace holdfast::core
