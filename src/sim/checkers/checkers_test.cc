// A checker nobody has seen fail proves nothing: each one is shown a broken history.

#include <gtest/gtest.h>

#include "engines/redis/redis_scripts.h"
#include "sim/checkers/exclusion.h"
#include "sim/checkers/idempotency.h"
#include "sim/checkers/loss_in_time.h"
#include "sim/checkers/token_order.h"

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;

GrantRecord grant(std::uint64_t token, Duration begin, Duration end, std::string lock = {'a'}) {
  GrantRecord record;
  record.lock = std::move(lock);
  record.token = Token{token};
  record.asked_at = TimePoint{begin - 1s};
  record.held = {TimePoint{begin}, TimePoint{end}};
  return record;
}

History history(std::vector<GrantRecord> grants) { return {std::move(grants), {{}}}; }

TEST(ExclusionCheckerTest, FindsOverlappingHoldersOfOneLock) {
  EXPECT_TRUE(check_exclusion(history({grant(1, 10s, 20s), grant(2, 20s, 30s)})).empty());
  EXPECT_EQ(check_exclusion(history({grant(1, 10s, 20s), grant(2, 19s, 30s)})).size(), 1U);
  const GrantRecord other = grant(2, 19s, 30s, {'b'});
  EXPECT_TRUE(check_exclusion(history({grant(1, 10s, 20s), other})).empty());
}

TEST(TokenOrderCheckerTest, FindsTokensThatRepeatOrGoBack) {
  EXPECT_TRUE(check_token_order(history({grant(1, 10s, 20s), grant(2, 20s, 30s)})).empty());
  EXPECT_FALSE(check_token_order(history({grant(1, 10s, 20s), grant(1, 20s, 30s)})).empty());
  EXPECT_FALSE(check_token_order(history({grant(2, 10s, 20s), grant(1, 20s, 30s)})).empty());
}

TEST(TokenOrderCheckerTest, AllowsEitherOrderForRequestsUnderWayTogether) {
  GrantRecord early = grant(2, 10s, 20s);
  GrantRecord late = grant(1, 20s, 30s);
  late.asked_at = TimePoint{9s};
  EXPECT_TRUE(check_token_order(history({early, late})).empty());
}

TEST(LossInTimeCheckerTest, FindsALossHeardLaterThanPossible) {
  GrantRecord lost = grant(1, 10s, 20s);
  lost.loss = LossReason::expired;
  lost.loss_heard_at = TimePoint{20s};
  EXPECT_TRUE(check_loss_in_time(history({lost}), Data::kept).empty());
  lost.loss_heard_at = TimePoint{25s};
  EXPECT_EQ(check_loss_in_time(history({lost}), Data::kept).size(), 1U);
  History paused = history({lost});
  paused.pauses[0].push_back({TimePoint{15s}, TimePoint{25s}});
  EXPECT_TRUE(check_loss_in_time(paused, Data::kept).empty());
}

TEST(LossInTimeCheckerTest, FindsALeaseTheServerForgotForNoReason) {
  GrantRecord lost = grant(1, 10s, 20s);
  lost.loss = LossReason::gone;
  EXPECT_EQ(check_loss_in_time(history({lost}), Data::kept).size(), 1U);
  EXPECT_TRUE(check_loss_in_time(history({lost}), Data::lost).empty());
}

Execution granted(WallTime at, std::string token, std::uint32_t data_epoch = 0) {
  using redis::Reply;
  return {at,
          {&redis::kAcquireScript, {"hf:a", "hf:counter"}, {"owner", "1000"}},
          Reply::of_array({Reply::of_integer(1), Reply::of_text(std::move(token))}),
          data_epoch};
}

TEST(IdempotencyCheckerTest, FindsASecondTokenForAStandingGrant) {
  EXPECT_TRUE(check_idempotency({granted(0s, "1"), granted(500ms, "1")}).empty());
  EXPECT_EQ(check_idempotency({granted(0s, "1"), granted(500ms, "2")}).size(), 1U);
}

TEST(IdempotencyCheckerTest, AllowsANewTokenAfterExpiryReleaseOrLossOfData) {
  const Execution release{
      500ms, {&redis::kReleaseScript, {"hf:a"}, {"owner"}}, redis::Reply::of_integer(1), 0};
  EXPECT_TRUE(check_idempotency({granted(0s, "1"), granted(1001ms, "2")}).empty());
  EXPECT_TRUE(check_idempotency({granted(0s, "1"), release, granted(600ms, "2")}).empty());
  EXPECT_TRUE(check_idempotency({granted(0s, "1"), granted(500ms, "2", 1)}).empty());
}

}  // namespace
}  // namespace holdfast::sim
