// The script of rate limits does what core::decide() says, on the model and on the server.

#include "core/gcra.h"
#include "engines/redis/limit_script.h"
#include "sim/world/chance.h"
#include "tests/ports/redis_bed.h"

namespace holdfast::ports {
namespace {

using namespace std::chrono_literals;
using core::AheadMark;
using core::Take;

class LimitScriptTest : public RedisPortTest {
 protected:
  static Take take_of(const RateLimit& limit, const TakeOptions& options = {}) {
    return core::to_take(limit, options).value();
  }
  Reply take(const Take& take) {
    return eval(redis::kTakeScript,
                {"key"},
                {std::to_string(take.tolerance.count()),
                 std::to_string(take.cost.count()),
                 std::to_string(take.wait.count())});
  }
  static Reply answer(bool granted, Duration was) {
    return Reply::of_array(
        {Reply::of_integer(granted ? 1 : 0), Reply::of_text(std::to_string(was.count()))});
  }
  /// What is stored. Nothing: as if it never was ahead.
  AheadMark stored() {
    const std::string text = command({"GET", "key"}).text;
    AheadMark mark;
    if (text.empty()) return mark;
    const std::size_t second = text.find(' ');
    const std::size_t third = text.find(' ', second + 1);
    mark.at = std::chrono::seconds{std::stoll(text)} + Duration{std::stoll(text.substr(second))};
    mark.ahead = Duration{std::stoll(text.substr(third))};
    return mark;
  }
};

TEST_P(LimitScriptTest, GrantsABurstAndForgetsTheKeyWhenItIsBack) {
  const Take one = take_of({.rate = {.permits = 1, .per = 20ms}, .burst = 2});
  EXPECT_EQ(take(one), answer(true, 0s));
  EXPECT_EQ(take(one).items[0], Reply::of_integer(1));
  EXPECT_LE(ttl_ms("key"), 41);
  EXPECT_TRUE(forgotten("key"));
}

TEST_P(LimitScriptTest, ARefusalChangesNothing) {
  const Take one = take_of({.rate = Rate::per_hour(1)});
  EXPECT_EQ(take(one), answer(true, 0s));
  const AheadMark before = stored();
  bed_->let_time_pass();
  const Reply refused = take(one);
  EXPECT_EQ(refused.items[0], Reply::of_integer(0));
  EXPECT_LT(std::stoll(refused.items[1].text), before.ahead.count());
  EXPECT_EQ(stored(), before);
}

TEST_P(LimitScriptTest, DoesWhatTheDecisionSays) {
  sim::Chance chance{7};
  for (int i = 0; i < 400; ++i) {
    const RateLimit limit{.rate = {.permits = 1 + chance.below(40), .per = 50ms},
                          .burst = 1 + chance.below(8)};
    const Take next = take_of(limit,
                              {.cost = 1 + chance.below(limit.burst),
                               .wait = Millis{chance.below(3) * chance.below(30)}});
    if (chance.below(4) == 0) bed_->let_time_pass();
    const AheadMark before = stored();
    const Reply reply = take(next);
    ASSERT_EQ(reply.items.size(), 2U) << testing::PrintToString(reply);
    const Duration was{std::stoll(reply.items[1].text)};
    const RateDecision decision = core::decide(next, was);
    ASSERT_EQ(reply, answer(decision.allowed, was));
    if (!decision.allowed) {
      ASSERT_LE(was, before.ahead);
      continue;
    }
    const AheadMark after = stored();
    ASSERT_EQ(was, core::ahead_at(before, after.at));
    ASSERT_EQ(after.ahead, core::ahead_after(next, was, decision));
  }
}

TEST_P(LimitScriptTest, AClockThatWentBackGivesNothingAndIsFollowed) {
  const Take one = take_of({.rate = Rate::per_hour(1), .burst = 2});
  const std::int64_t now = std::stoll(command({"TIME"}).items[0].text);
  const Duration ahead = 1h + 1min;
  command({"SET", "key", std::to_string(now + 86'400) + " 5 " + std::to_string(ahead.count())});
  EXPECT_EQ(take(one), answer(false, ahead));
  EXPECT_EQ(stored().ahead, ahead);
  EXPECT_LT(stored().at, std::chrono::seconds{now + 3'600});
}

TEST_P(LimitScriptTest, TheLargestNumbersAreExact) {
  const Take most =
      take_of({.rate = {.permits = 3, .per = 24h * 30}}, {.cost = 2, .wait = 24h * 30});
  EXPECT_EQ(take(most), answer(true, 0s));
  const Duration first = stored().ahead;
  EXPECT_EQ(first, most.cost);
  const Reply second = take(most);
  ASSERT_EQ(second.items[0], Reply::of_integer(1));
  EXPECT_EQ(stored().ahead, Duration{std::stoll(second.items[1].text)} + most.cost);
}

TEST_P(LimitScriptTest, WhatIsNotALimitIsLeftAlone) {
  command({"SET", "key", "something else"});
  const Reply reply = take(take_of({.rate = Rate::per_second(1)}));
  EXPECT_EQ(reply.kind, Reply::Kind::error);
  EXPECT_TRUE(reply.text.starts_with("HOLDFAST")) << reply.text;
  EXPECT_EQ(command({"GET", "key"}).text, "something else");
}

HOLDFAST_ON_BOTH_BEDS(LimitScriptTest);

}  // namespace
}  // namespace holdfast::ports
