#include "core/gcra.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;

Take take_of(const RateLimit& limit, const TakeOptions& options = {}) {
  return to_take(limit, options).value();
}

/// A key and its clock, as an engine keeps them.
class Key {
 public:
  RateDecision take(const Take& take) {
    const Duration ahead = ahead_at(mark_, now);
    const RateDecision decision = decide(take, ahead);
    mark_ = {.at = now, .ahead = ahead_after(take, ahead, decision)};
    return decision;
  }

  Duration now{1'000'000h};

 private:
  AheadMark mark_{};
};

RateLimit any_limit() {
  const auto permits = *rc::gen::inRange<std::uint64_t>(1, 2000);
  const Duration per{*rc::gen::inRange<std::int64_t>(1'000'000, 100'000'000'000)};
  return {.rate = {.permits = permits, .per = per},
          .burst = *rc::gen::inRange<std::uint64_t>(1, 50)};
}

TEST(GcraTest, ABurstGoesAtOnceAndTheRestAtTheRate) {
  Key key;
  const Take take = take_of({.rate = Rate::per_second(10), .burst = 3});
  EXPECT_EQ(key.take(take).remaining, 2U);
  EXPECT_EQ(key.take(take).remaining, 1U);
  EXPECT_EQ(key.take(take).remaining, 0U);
  const RateDecision refused = key.take(take);
  EXPECT_FALSE(refused.allowed);
  EXPECT_EQ(refused.retry_after, 100ms);
  key.now += 100ms;
  EXPECT_TRUE(key.take(take).allowed);
  EXPECT_FALSE(key.take(take).allowed);
  key.now += 1h;
  EXPECT_EQ(key.take(take).remaining, 2U);
}

TEST(GcraTest, WithoutABurstAsManyGoAtOnceAsTheRateHas) {
  EXPECT_EQ(take_of({.rate = Rate::per_second(10)}).tolerance, 1s);
  EXPECT_EQ(take_of({.rate = Rate::per_hour(1)}).tolerance, 1h);
}

TEST(GcraTest, WhoWaitsIsToldForHowLongAndGoesInOrder) {
  Key key;
  const RateLimit limit{.rate = Rate::per_second(10), .burst = 1};
  const Take patient = take_of(limit, {.wait = 250ms});
  EXPECT_EQ(key.take(patient).delay, 0ms);
  EXPECT_EQ(key.take(patient).delay, 100ms);
  EXPECT_EQ(key.take(patient).delay, 200ms);
  const RateDecision late = key.take(patient);
  EXPECT_FALSE(late.allowed);
  EXPECT_EQ(late.retry_after, 300ms);
}

TEST(GcraTest, AForeverIsAMonth) {
  EXPECT_EQ(take_of({.rate = Rate::per_second(1)}, {.wait = Millis::max()}).wait, kTakeWaitMax);
}

TEST(GcraTest, WhatCannotBeIsNamed) {
  const auto refused = [](const RateLimit& limit, const TakeOptions& options = {}) {
    const auto take = to_take(limit, options);
    return !take && take.error().code == Errc::invalid_argument;
  };
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  EXPECT_TRUE(refused({.rate = {.permits = 0}}));
  EXPECT_TRUE(refused({.rate = {.permits = 1, .per = 0s}}));
  EXPECT_TRUE(refused({.rate = {.permits = 1, .per = -1s}}));
  EXPECT_TRUE(refused({.rate = {.permits = 1, .per = 24h * 30 + 1ns}}));
  EXPECT_TRUE(refused({.rate = Rate::per_second(10'200'000)}));
  EXPECT_TRUE(refused({.rate = Rate::per_second(kMost)}));
  EXPECT_TRUE(refused({.rate = Rate::per_second(1), .burst = kMost}));
  EXPECT_TRUE(refused({.rate = Rate::per_hour(1), .burst = 31 * 24 + 1}));
  EXPECT_TRUE(refused({.rate = Rate::per_second(1), .burst = 5}, {.cost = 6}));
  EXPECT_TRUE(refused({.rate = Rate::per_second(1)}, {.cost = 0}));
  EXPECT_TRUE(refused({.rate = Rate::per_second(1)}, {.cost = kMost}));
  EXPECT_TRUE(refused({.rate = Rate::per_second(1)}, {.wait = -1ms}));
  EXPECT_FALSE(refused({.rate = Rate::per_second(10'000'000), .burst = 1'000'000}));
  EXPECT_FALSE(refused({.rate = {.permits = 7, .per = 24h * 30}}, {.cost = 7, .wait = 24h * 30}));
}

/// Everything stays exact in a double, as Lua has it.
TEST(GcraTest, NoNumberIsAbove2To53) {
  const Take most =
      take_of({.rate = {.permits = 7, .per = 24h * 30}}, {.cost = 7, .wait = 24h * 30});
  EXPECT_LT((kAheadMax + most.cost).count(), std::int64_t{1} << 53);
  const RateDecision decision = decide(most, kAheadMax);
  EXPECT_FALSE(decision.allowed);
  EXPECT_LT(decision.retry_after.count(), std::int64_t{1} << 53);
}

TEST(GcraTest, AMarkIsReadAsItWasWritten) {
  const AheadMark mark{.at = 123'456'789ns, .ahead = 42s};
  EXPECT_EQ(read_ahead_mark(to_text(mark)), mark);
  for (const char* text : {"", "1", "1 ", " 1", "1 2 3", "-1 2", "1 -2", "a b", "1.5 2"}) {
    EXPECT_EQ(read_ahead_mark(text), std::nullopt) << text;
  }
}

/// Sequences are drawn from a seed: rapidcheck would be at shrinking one of them for minutes.
RC_GTEST_PROP(GcraProperty, NoTimeHasMoreThanItsRateAndOneBurst, (std::uint64_t seed)) {
  std::mt19937_64 random{seed};
  const RateLimit limit = any_limit();
  const Duration tolerance = take_of(limit).tolerance;
  Key key;
  struct Use {
    Duration at;
    Duration cost;
  };
  std::vector<Use> uses;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t cost = 1 + random() % limit.burst;
    const Take take = take_of(limit, {.cost = cost, .wait = Millis{random() % 3 * 500}});
    const RateDecision decision = key.take(take);
    RC_ASSERT(decision.delay <= take.wait);
    if (decision.allowed) uses.push_back({key.now + decision.delay, take.cost});
    key.now += Duration{random() % (2 * take.cost.count())};
  }
  for (std::size_t first = 0; first < uses.size(); ++first) {
    Duration used{0};
    for (std::size_t last = first; last < uses.size(); ++last) {
      used += uses[last].cost;
      RC_ASSERT(used <= uses[last].at - uses[first].at + tolerance);
    }
  }
}

RC_GTEST_PROP(GcraProperty, ARefusalSaysExactlyWhenToComeBack, ()) {
  const RateLimit limit = any_limit();
  const auto cost = *rc::gen::inRange<std::uint64_t>(1, limit.burst + 1);
  const Take take = take_of(limit, {.cost = cost});
  const Duration ahead{*rc::gen::inRange<std::int64_t>(0, 3 * take.tolerance.count())};
  const RateDecision decision = decide(take, ahead);
  RC_PRE(!decision.allowed);
  const AheadMark mark{.at = 5s, .ahead = ahead};
  RC_ASSERT(decide(take, ahead_at(mark, 5s + decision.retry_after)).allowed);
  RC_ASSERT(!decide(take, ahead_at(mark, 5s + decision.retry_after - 1ns)).allowed);
}

RC_GTEST_PROP(GcraProperty, WhatRemainsCanBeTakenAndNoMore, ()) {
  const RateLimit limit = any_limit();
  const Take one = take_of(limit);
  const Duration ahead{*rc::gen::inRange<std::int64_t>(0, one.tolerance.count())};
  const RateDecision decision = decide(one, ahead);
  const Duration after = ahead_after(one, ahead, decision);
  Take rest = one;
  rest.cost = one.interval * static_cast<std::int64_t>(decision.remaining);
  RC_ASSERT(decide(rest, after).allowed);
  rest.cost += one.interval;
  RC_ASSERT(!decide(rest, after).allowed);
}

RC_GTEST_PROP(GcraProperty, AClockThatGoesBackGivesNothing, ()) {
  const AheadMark mark{.at = 1h, .ahead = Duration{*rc::gen::inRange<std::int64_t>(0, 1'000'000)}};
  const Duration now{*rc::gen::inRange<std::int64_t>(0, Duration{1h}.count())};
  RC_ASSERT(ahead_at(mark, now) == mark.ahead);
}

RC_GTEST_PROP(GcraProperty, EveryRateIsKeptWithinOnePercent, ()) {
  const auto permits = static_cast<std::uint64_t>(
      std::pow(10.0, static_cast<double>(*rc::gen::inRange(0, 7001)) / 1000.0));
  const Take take = take_of({.rate = Rate::per_second(permits)});
  const double kept = 1e9 / static_cast<double>(take.interval.count());
  RC_ASSERT(kept <= static_cast<double>(permits));
  RC_ASSERT(kept >= 0.99 * static_cast<double>(permits));
}

}  // namespace
}  // namespace holdfast::core
