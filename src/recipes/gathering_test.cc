#include "recipes/gathering.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "recipes/run_here.h"

namespace holdfast::recipes {
namespace {

Task<int> wait_for(std::shared_ptr<Gathering> gathering) {
  co_await gathering->all_here();
  co_return 1;
}

TEST(GatheringTest, NobodyExpectedIsNobodyWaitedFor) {
  EXPECT_EQ(run_here(wait_for(std::make_shared<Gathering>(0))), 1);
}

TEST(GatheringTest, ThoseWhoCameBeforeAreNotWaitedFor) {
  const auto gathering = std::make_shared<Gathering>(2);
  gathering->arrive();
  gathering->arrive();
  EXPECT_EQ(run_here(wait_for(gathering)), 1);
}

// The context is gone as soon as the task has ended, while the last to arrive may be on its way
// out.
TEST(GatheringTest, TheContextMayEndWithTheTask) {
  for (int round = 0; round < 300; ++round) {
    const auto gathering = std::make_shared<Gathering>(3);
    std::vector<std::jthread> others;
    for (int i = 0; i < 3; ++i) others.emplace_back([gathering] { gathering->arrive(); });
    EXPECT_EQ(run_here(wait_for(gathering)), 1);
  }
}

}  // namespace
}  // namespace holdfast::recipes
