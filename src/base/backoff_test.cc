#include "base/backoff.h"

#include <gtest/gtest.h>

#include <limits>

namespace holdfast {
namespace {

using namespace std::chrono_literals;

constexpr BackoffPolicy kPolicy{.first = 10ms, .max = 1s};
constexpr std::uint64_t kHighest = std::numeric_limits<std::uint64_t>::max();

TEST(BackoffTest, BoundDoublesUntilTheMaximum) {
  EXPECT_EQ(backoff_bound(kPolicy, 0), 10ms);
  EXPECT_EQ(backoff_bound(kPolicy, 1), 20ms);
  EXPECT_EQ(backoff_bound(kPolicy, 6), 640ms);
  EXPECT_EQ(backoff_bound(kPolicy, 7), 1s);
  EXPECT_EQ(backoff_bound(kPolicy, 4'000'000'000), 1s);
}

TEST(BackoffTest, FirstIsCappedByTheMaximum) {
  EXPECT_EQ(backoff_bound({.first = 5s, .max = 1s}, 0), 1s);
}

TEST(BackoffTest, NeverOverflowsWithAHugeMaximum) {
  EXPECT_EQ(backoff_bound({.first = 1ns, .max = Duration::max()}, 1000), Duration::max());
}

TEST(BackoffTest, JitterSpansFromZeroToTheBound) {
  EXPECT_EQ(backoff_delay(kPolicy, 3, 0), 0ns);
  EXPECT_EQ(backoff_delay(kPolicy, 3, kHighest / 2 + 1), 40ms);
  EXPECT_EQ(backoff_delay(kPolicy, 3, kHighest), 80ms - 1ns);
}

TEST(BackoffTest, GivesTheSameDelayForTheSameDraw) {
  static_assert(backoff_delay(kPolicy, 2, 12345) == backoff_delay(kPolicy, 2, 12345));
  EXPECT_NE(backoff_delay(kPolicy, 2, kHighest / 3), backoff_delay(kPolicy, 2, kHighest / 5));
}

}  // namespace
}  // namespace holdfast
