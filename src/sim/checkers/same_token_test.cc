#include "sim/checkers/same_token.h"

#include <gtest/gtest.h>

#include <utility>

#include "sim/checkers/history_builder.h"

namespace holdfast::sim {
namespace {

NodeStep granted(std::uint64_t token, std::int64_t at_ms, std::string owner = {'a'}) {
  NodeStep step;
  step.owner = std::move(owner);
  step.grant = Token{token};
  step.at = Millis{at_ms};
  step.until = Millis{at_ms + 100};
  return step;
}

NodeStep removed(std::int64_t at_ms) {
  NodeStep step = granted(0, at_ms);
  step.kind = NodeStep::Kind::removed;
  return step;
}

Violations check(std::vector<NodeStep> steps) {
  History history;
  history.node_steps = std::move(steps);
  return check_same_token(history);
}

TEST(SameTokenTest, AllowsTheSameTokenAgain) {
  EXPECT_TRUE(check({granted(5, 0), granted(5, 50), granted(5, 140)}).empty());
}

TEST(SameTokenTest, FindsAnotherTokenForAStandingGrant) {
  const Violations found = check({granted(5, 0), granted(6, 50)});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].checker, "T3");
  EXPECT_EQ(found[0].what,
            "lock 0: node 0 gave a token 6 at 50 ms by its clock, while its token 5 stood until "
            "100 ms");
}

TEST(SameTokenTest, CountsTheTimeFromTheLastRepetition) {
  EXPECT_EQ(check({granted(5, 0), granted(5, 50), granted(6, 140)}).size(), 1U);
  EXPECT_TRUE(check({granted(5, 0), granted(5, 50), granted(6, 150)}).empty());
}

TEST(SameTokenTest, AllowsANewTokenAfterExpiryRemovalOrANewEra) {
  EXPECT_TRUE(check({granted(5, 0), granted(6, 100)}).empty());
  EXPECT_TRUE(check({granted(5, 0), removed(40), granted(6, 50)}).empty());
  NodeStep later = granted(6, 50);
  later.era = 1;
  EXPECT_TRUE(check({granted(5, 0), later}).empty());
}

TEST(SameTokenTest, TellsOwnersLocksAndNodesApart) {
  NodeStep other_lock = granted(6, 50);
  other_lock.lock = 1;
  NodeStep other_node = granted(7, 50);
  other_node.node = 1;
  EXPECT_TRUE(check({granted(5, 0), granted(8, 10, {'b'}), other_lock, other_node}).empty());
}

TEST(SameTokenTest, SeesThroughAServerThatGrantsToEveryone) {
  EXPECT_EQ(check({granted(5, 0), granted(6, 10, {'b'}), granted(7, 20)}).size(), 1U);
}

TEST(SameTokenTest, LeavesGrantsWithoutATokenAlone) {
  EXPECT_TRUE(check({granted(5, 0), granted(0, 50)}).empty());
}

}  // namespace
}  // namespace holdfast::sim
