#include "sim/checkers/blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "sim/checkers/history_builder.h"

namespace holdfast::sim {
namespace {

TEST(BlocksTest, AllowsOneSectionAfterTheOther) {
  EXPECT_TRUE(check_blocks(three_sections()).empty());
}

TEST(BlocksTest, FindsASectionThatAnotherInterrupts) {
  History history = three_sections();
  // The first section's write moves behind the second one's open.
  std::rotate(history.served.begin() + 2, history.served.begin() + 3, history.served.begin() + 4);
  const Violations found = check_blocks(history);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].checker, "G2");
  EXPECT_EQ(found[0].what,
            "lock 0: token 10, sequence 1, was accepted at 121 ms after an operation with token 20 "
            "and others with its token had come earlier");
}

TEST(BlocksTest, FindsASectionThatDoesNotBeginWithAnOpen) {
  History history = three_sections();
  history.served.erase(history.served.begin() + 3);
  const Violations found = check_blocks(history);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].what,
            "lock 0: token 20, sequence 0, was accepted at 211 ms after an operation with token 10 "
            "and was the first of its token, but no open");
}

TEST(BlocksTest, SkipsWhatWasRefusedOrHasNoToken) {
  History history = three_sections();
  Served stale = history.served[2];
  stale.verdict = Verdict::refused;
  history.served.insert(history.served.begin() + 5, stale);
  Served unfenced = history.served[2];
  unfenced.token = Token{0};
  history.served.insert(history.served.begin() + 5, unfenced);
  EXPECT_TRUE(check_blocks(history).empty());
}

TEST(BlocksTest, CountsEachLockForItself) {
  History history = three_sections();
  for (std::size_t i = 3; i < 6; ++i) history.served[i].lock = 1;
  std::swap(history.served[2], history.served[3]);
  EXPECT_TRUE(check_blocks(history).empty());
}

}  // namespace
}  // namespace holdfast::sim
