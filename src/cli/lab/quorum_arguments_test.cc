// lab quorum: lists of node counts and of percentages.

#include "cli/lab/quorum_arguments.h"

#include <gtest/gtest.h>

namespace holdfast::cli {
namespace {

using Counts = std::vector<int>;

Result<lab::QuorumPlan> plan_of(const std::string& nodes, const std::string& availabilities) {
  return to_plan({.nodes = nodes, .availabilities = availabilities});
}

TEST(QuorumArgumentsTest, ListsAndRangesRiseWithoutRepetitions) {
  EXPECT_EQ(plan_of("3,5,7", "99")->nodes, (Counts{3, 5, 7}));
  EXPECT_EQ(plan_of("1-4", "99")->nodes, (Counts{1, 2, 3, 4}));
  EXPECT_EQ(plan_of("7,3-5,4", "99")->nodes, (Counts{3, 4, 5, 7}));
  EXPECT_EQ(plan_of("99", "99")->nodes, Counts{99});
}

TEST(QuorumArgumentsTest, PercentagesStayInTheirOrder) {
  EXPECT_EQ(plan_of("3", "99.9,95,50")->availabilities, (std::vector<double>{99.9, 95, 50}));
  EXPECT_EQ(plan_of("3", "0.0001,99.9999")->availabilities, (std::vector<double>{0.0001, 99.9999}));
}

TEST(QuorumArgumentsTest, TheDefaultsAreUnderstood) {
  const auto plan = to_plan({});
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->nodes.size(), 9U);
  EXPECT_EQ(plan->availabilities.size(), 3U);
}

TEST(QuorumArgumentsTest, WhatIsNoCountIsRefusedByName) {
  for (const char* nodes :
       {"", "0", "100", "-3", "3-", "5-3", "3,,5", "3,", "three", "1.5", "1-100"}) {
    const auto plan = plan_of(nodes, "99");
    ASSERT_FALSE(plan) << nodes;
    EXPECT_EQ(plan.error().code, Errc::invalid_argument) << nodes;
    EXPECT_TRUE(plan.error().message.starts_with("--nodes: ")) << plan.error().message;
  }
}

TEST(QuorumArgumentsTest, WhatIsNoPercentageIsRefusedByName) {
  for (const char* percent : {"",
                              "0",
                              "100",
                              "-1",
                              "99,",
                              "high",
                              "nan",
                              "inf",
                              "9e1",
                              "0x5",
                              "99 ",
                              "50,60,70,80,90,95,99"}) {
    const auto plan = plan_of("3", percent);
    ASSERT_FALSE(plan) << percent;
    EXPECT_EQ(plan.error().code, Errc::invalid_argument) << percent;
    EXPECT_TRUE(plan.error().message.starts_with("--availability: ")) << plan.error().message;
  }
}

}  // namespace
}  // namespace holdfast::cli
