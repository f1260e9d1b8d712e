#include "sim/checkers/honesty.h"

#include <gtest/gtest.h>

#include "sim/checkers/history_builder.h"

namespace holdfast::sim {
namespace {

/// A lease until 100 ms that expired, and its holder heard of it at `heard_ms`.
History expired(std::int64_t heard_ms) {
  History history = history_of({grant(1, 0, 10, 100)});
  Acquisition& lease = history.acquisitions[0];
  lease.release_called_at = kNever;
  lease.loss = LossReason::expired;
  lease.loss_heard_at = at(heard_ms);
  history.pauses.resize(1);
  return history;
}

/// A lease until 100 ms, given up at 99 ms, and a look at it at `looked_ms`.
History looked(std::int64_t looked_ms) {
  History history = history_of({grant(1, 0, 10, 100)});
  Operation operation;
  operation.checked_at = at(looked_ms);
  operation.sent_at = at(looked_ms + 500);
  history.operations = {operation};
  return history;
}

TEST(HonestyTest, AllowsALookWhileTheLeaseStandsHoweverLateTheRequestLeaves) {
  EXPECT_TRUE(check_honesty(three_sections()).empty());
  EXPECT_TRUE(check_honesty(looked(99)).empty());
}

TEST(HonestyTest, FindsALeaseFoundGoodPastItsDeadline) {
  History history = looked(100);
  history.acquisitions[0].release_called_at = at(150);
  history.acquisitions[0].loss = LossReason::expired;
  history.acquisitions[0].loss_heard_at = at(100);
  const Violations found = check_honesty(history);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].checker, "L2");
  EXPECT_EQ(found[0].what,
            "lock 0: client 0 found its lease with token 1 good at 100 ms, though its deadline was "
            "100 ms");
}

TEST(HonestyTest, FindsALeaseFoundGoodAfterItWasGivenUp) {
  History history = looked(90);
  history.acquisitions[0].release_called_at = at(90);
  EXPECT_TRUE(check_honesty(history).empty());
  history.acquisitions[0].release_called_at = at(89);
  EXPECT_EQ(check_honesty(history).size(), 1U);
}

TEST(HonestyTest, FindsALeaseFoundGoodAfterItsLossWasHeardOf) {
  History history = looked(90);
  history.acquisitions[0].loss = LossReason::gone;
  history.acquisitions[0].loss_heard_at = at(90);
  EXPECT_TRUE(check_honesty(history).empty());
  history.acquisitions[0].loss_heard_at = at(89);
  EXPECT_EQ(check_honesty(history).size(), 1U);
}

TEST(HonestyTest, DemandsThatExpiryIsHeardOfAtTheDeadline) {
  EXPECT_TRUE(check_honesty(expired(100)).empty());
  EXPECT_EQ(check_honesty(expired(99)).size(), 1U);
  const Violations late = check_honesty(expired(101));
  ASSERT_EQ(late.size(), 1U);
  EXPECT_EQ(late[0].what,
            "lock 0: client 0 heard at 101 ms that its lease with token 1 was lost; the deadline "
            "was 100 ms and its first chance to hear of it 100 ms");
}

TEST(HonestyTest, FindsExpiryNeverHeardOf) {
  History history = expired(100);
  history.acquisitions[0].loss = LossReason::none;
  EXPECT_EQ(check_honesty(history).size(), 1U);
}

TEST(HonestyTest, LetsAPausedHolderHearWhenItRunsAgain) {
  History history = expired(130);
  history.pauses[0] = {span(20, 40), span(95, 130)};
  EXPECT_TRUE(check_honesty(history).empty());
  history.acquisitions[0].loss_heard_at = at(131);
  EXPECT_EQ(check_honesty(history).size(), 1U);
}

TEST(HonestyTest, DemandsNothingOfTheDead) {
  History history = expired(130);
  history.acquisitions[0].loss = LossReason::none;
  history.acquisitions[0].crashed_at = at(60);
  EXPECT_TRUE(check_honesty(history).empty());
  history.acquisitions[0].crashed_at = at(110);
  EXPECT_EQ(check_honesty(history).size(), 1U);
  history.pauses[0] = {span(95, 130)};
  EXPECT_TRUE(check_honesty(history).empty());
}

TEST(HonestyTest, DemandsNothingOnceTheLeaseIsGivenUpLostOtherwiseOrTheWorldHasEnded) {
  History given_up = expired(100);
  given_up.acquisitions[0].loss = LossReason::none;
  given_up.acquisitions[0].release_called_at = at(100);
  EXPECT_TRUE(check_honesty(given_up).empty());
  given_up.acquisitions[0].release_called_at = at(101);
  EXPECT_EQ(check_honesty(given_up).size(), 1U);

  History gone = expired(60);
  gone.acquisitions[0].loss = LossReason::gone;
  EXPECT_TRUE(check_honesty(gone).empty());

  History ended = expired(100);
  ended.acquisitions[0].loss = LossReason::none;
  ended.ended_at = at(100);
  EXPECT_TRUE(check_honesty(ended).empty());
}

TEST(HonestyTest, DemandsNothingBeforeTheHolderHasItsLease) {
  History history = expired(120);
  history.acquisitions[0].returned_at = at(120);
  EXPECT_TRUE(check_honesty(history).empty());
  history.acquisitions[0].loss_heard_at = at(121);
  EXPECT_EQ(check_honesty(history).size(), 1U);
}

}  // namespace
}  // namespace holdfast::sim
