#include "sim/checkers/fence_order.h"

#include <gtest/gtest.h>

#include <utility>

#include "sim/checkers/history_builder.h"

namespace holdfast::sim {
namespace {

/// An operation of its own each, unless the test says otherwise.
Served served(std::size_t operation, std::uint64_t token, std::uint64_t sequence) {
  Served entry;
  entry.at = at(static_cast<std::int64_t>(operation));
  entry.operation = operation;
  entry.verb = sequence == 0 ? Verb::open : Verb::write;
  entry.token = Token{token};
  entry.sequence = sequence;
  return entry;
}

Served refused(std::size_t operation, std::uint64_t token, std::uint64_t sequence) {
  Served entry = served(operation, token, sequence);
  entry.verdict = Verdict::refused;
  return entry;
}

Violations check(std::vector<Served> log) {
  History history;
  history.served = std::move(log);
  return check_fence_order(history);
}

TEST(FenceOrderTest, AllowsWhatRises) {
  EXPECT_TRUE(check_fence_order(three_sections()).empty());
  EXPECT_TRUE(check({served(0, 5, 0), served(1, 5, 1), served(2, 5, 4), served(3, 9, 0)}).empty());
}

TEST(FenceOrderTest, FindsAStaleTokenAccepted) {
  const Violations found = check({served(0, 5, 0), served(1, 9, 0), served(2, 5, 1)});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].checker, "G1");
  EXPECT_EQ(found[0].what,
            "lock 0: the resource accepted token 5, sequence 1 at 2 ms, after token 9, sequence 0");
}

TEST(FenceOrderTest, FindsAnOldSequenceAccepted) {
  EXPECT_EQ(check({served(0, 5, 0), served(1, 5, 2), served(2, 5, 1)}).size(), 1U);
  EXPECT_EQ(check({served(0, 5, 0), served(1, 5, 1), served(2, 5, 1)}).size(), 1U);
}

TEST(FenceOrderTest, AllowsARepeatedMessageOnlyOfTheLastOperation) {
  EXPECT_TRUE(check({served(0, 5, 0), served(1, 5, 1), served(1, 5, 1)}).empty());
  EXPECT_EQ(check({served(0, 5, 0), served(1, 5, 1), served(2, 5, 2), served(1, 5, 1)}).size(), 1U);
  EXPECT_EQ(check({served(0, 5, 0), served(1, 5, 1), served(2, 9, 0), served(1, 5, 1)}).size(), 1U);
}

TEST(FenceOrderTest, AllowsARepeatedOpenOfTheHighestToken) {
  EXPECT_TRUE(check({served(0, 5, 0), served(1, 5, 1), served(0, 5, 0), served(2, 5, 2)}).empty());
  EXPECT_EQ(check({served(0, 5, 0), served(1, 9, 0), served(0, 5, 0)}).size(), 1U);
  EXPECT_EQ(check({served(0, 5, 0), served(1, 5, 1), served(2, 5, 0)}).size(), 1U);
}

TEST(FenceOrderTest, FindsARepeatedWriteThatCameBeforeOthersWithoutAnOpen) {
  EXPECT_EQ(check({served(0, 5, 1), served(1, 5, 2), served(0, 5, 1)}).size(), 1U);
}

TEST(FenceOrderTest, JudgesAReadWithoutANumberByItsToken) {
  const auto read = [](Served entry) {
    entry.verb = Verb::read;
    return entry;
  };
  EXPECT_TRUE(check({served(0, 5, 0),
                     read(served(1, 5, 0)),
                     served(2, 5, 1),
                     served(2, 5, 1),
                     read(served(3, 5, 0)),
                     read(served(1, 5, 0)),
                     served(2, 5, 1)})
                  .empty());
  EXPECT_EQ(check({served(0, 5, 0), served(1, 9, 0), read(served(2, 5, 0))}).size(), 1U);
  EXPECT_TRUE(check({served(0, 5, 0), served(1, 9, 0), read(refused(2, 5, 0))}).empty());
  EXPECT_EQ(check({served(0, 5, 0), served(1, 5, 1), read(refused(2, 5, 0))}).size(), 1U);
  EXPECT_EQ(check({served(0, 5, 0), served(1, 5, 2), read(served(2, 5, 1))}).size(), 1U);
}

TEST(FenceOrderTest, AllowsRefusalOfWhatDoesNotRise) {
  EXPECT_TRUE(check({served(0, 5, 0), served(1, 9, 0), refused(2, 5, 1)}).empty());
  EXPECT_TRUE(
      check({served(0, 5, 0), served(1, 5, 2), refused(2, 5, 2), refused(3, 5, 1)}).empty());
}

TEST(FenceOrderTest, FindsARefusalForNoReason) {
  const Violations first = check({refused(0, 5, 0)});
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].what,
            "lock 0: the resource refused token 5, sequence 0 at 0 ms, before any other");
  EXPECT_EQ(check({served(0, 5, 0), refused(1, 5, 1)}).size(), 1U);
  EXPECT_EQ(check({served(0, 5, 0), refused(1, 6, 0)}).size(), 1U);
}

TEST(FenceOrderTest, CountsEachLockForItselfAndSkipsWhatHasNoToken) {
  Served other = served(1, 4, 0);
  other.lock = 1;
  EXPECT_TRUE(check({served(0, 5, 0), other}).empty());
  EXPECT_TRUE(check({served(0, 5, 0), served(1, 0, 0), refused(2, 0, 7)}).empty());
}

}  // namespace
}  // namespace holdfast::sim
