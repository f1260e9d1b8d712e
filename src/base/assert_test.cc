#include "base/assert.h"

#include <gtest/gtest.h>

namespace holdfast {
namespace {

TEST(AssertDeathTest, BrokenInvariantNamesItselfAndAborts) {
  const int answer = 41;
  EXPECT_DEATH(HOLDFAST_ASSERT(answer == 42), "broken invariant: answer == 42 .*assert_test.cc:");
}

TEST(AssertTest, EvaluatesItsConditionOnce) {
  int evaluated = 0;
  HOLDFAST_ASSERT(++evaluated == 1);
  EXPECT_EQ(evaluated, 1);
}

}  // namespace
}  // namespace holdfast
