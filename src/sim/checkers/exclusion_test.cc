#include "sim/checkers/exclusion.h"

#include <gtest/gtest.h>

#include <numeric>

#include "sim/checkers/history_builder.h"

namespace holdfast::sim {
namespace {

std::uint64_t breaches(const Exclusion& exclusion) {
  return std::accumulate(exclusion.breaches.begin(), exclusion.breaches.end(), std::uint64_t{0});
}

std::uint64_t breaches(const Exclusion& exclusion, FaultClass kind) {
  return exclusion.breaches.at(static_cast<std::size_t>(kind));
}

/// Client 0 holds from 10 to 99 ms, client 1 asks at 40 ms and gets the lock at 50 ms.
History two_at_once() {
  History history = history_of({grant(1, 0, 10, 100), grant(2, 40, 50, 150)});
  history.acquisitions[1].client = 1;
  return history;
}

TEST(HeldTest, EndsWithWhateverEndsTheTenureFirst) {
  Acquisition holder = grant(1, 0, 10, 100);
  EXPECT_EQ(holder.held().begin, at(10));
  EXPECT_EQ(holder.held().end, at(99));
  holder.release_called_at = kNever;
  EXPECT_EQ(holder.held().end, at(100));
  holder.crashed_at = at(80);
  EXPECT_EQ(holder.held().end, at(80));
  holder.loss_heard_at = at(70);
  EXPECT_EQ(holder.held().end, at(80));
  holder.loss = LossReason::gone;
  EXPECT_EQ(holder.held().end, at(70));
}

TEST(HeldTest, IsEmptyWithoutAGrantAndForALeaseThatCameTooLate) {
  EXPECT_EQ(denied(0, 10).held().begin, denied(0, 10).held().end);
  EXPECT_EQ(grant(1, 0, 10, 5).held().end, at(10));
}

TEST(ExclusionTest, AllowsOneHolderAfterTheOther) {
  EXPECT_TRUE(check_exclusion(three_sections()).violations.empty());
  const History touching = history_of({grant(1, 0, 10, 50), grant(2, 0, 49, 80)});
  EXPECT_TRUE(check_exclusion(touching).violations.empty());
}

TEST(ExclusionTest, FindsTwoHoldersAtOnce) {
  const Exclusion result = check_exclusion(two_at_once());
  ASSERT_EQ(result.violations.size(), 1U);
  EXPECT_EQ(result.violations[0].checker, "L1");
  EXPECT_EQ(result.violations[0].what,
            "lock 0: client 1 got it at 50 ms with token 2, while client 0 held it with token 1 "
            "from 10 ms to 99 ms");
  EXPECT_EQ(breaches(result), 0U);
}

TEST(ExclusionTest, FindsEachPairOfHolders) {
  History history = two_at_once();
  history.acquisitions.push_back(grant(3, 0, 60, 90));
  history.acquisitions.push_back(grant(4, 0, 120, 140));
  EXPECT_EQ(check_exclusion(history).violations.size(), 4U);
}

TEST(ExclusionTest, JudgesHoldersWithoutTokensToo) {
  EXPECT_EQ(
      check_exclusion(history_of({grant(0, 0, 10, 100), grant(0, 0, 50, 90)})).violations.size(),
      1U);
}

TEST(ExclusionTest, CountsEachLockForItself) {
  History history = two_at_once();
  history.acquisitions[1].lock = 1;
  EXPECT_TRUE(check_exclusion(history).violations.empty());
}

TEST(ExclusionTest, PutsABreachDownToTheLatestFaultThatAllowsIt) {
  History history = two_at_once();
  history.faults = {{FaultClass::clock_step, span(30, 30), 0},
                    {FaultClass::data_loss, span(20, 20), 0},
                    {FaultClass::pause, span(35, 45), 0},
                    {FaultClass::promotion, span(60, 60), 0}};
  const Exclusion result = check_exclusion(history);
  EXPECT_TRUE(result.violations.empty());
  EXPECT_EQ(breaches(result), 1U);
  EXPECT_EQ(breaches(result, FaultClass::clock_step), 1U);
}

TEST(ExclusionTest, ExcusesNothingByAFaultThatOnlyMakesHoldersLate) {
  for (const FaultClass kind : {FaultClass::pause, FaultClass::partition, FaultClass::restart}) {
    History history = two_at_once();
    history.faults = {{kind, span(5, 60), 0}};
    EXPECT_EQ(check_exclusion(history).violations.size(), 1U) << to_string(kind);
  }
}

TEST(ExclusionTest, ExcusesNothingByAFaultOfAnotherTime) {
  History history = two_at_once();
  history.acquisitions[0].called_at = at(8);
  history.faults = {{FaultClass::data_loss, span(0, 7), 0}};
  EXPECT_EQ(check_exclusion(history).violations.size(), 1U);
  history.faults[0].when.end = at(8);
  EXPECT_EQ(breaches(check_exclusion(history), FaultClass::data_loss), 1U);
  history.faults[0].when = span(50, 50);
  EXPECT_EQ(check_exclusion(history).violations.size(), 1U);
}

}  // namespace
}  // namespace holdfast::sim
