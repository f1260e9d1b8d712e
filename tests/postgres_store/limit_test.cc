// The function of rate limits does what core::decide() says.

#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "core/gcra.h"
#include "tests/postgres_store/store_bed.h"

namespace holdfast::postgres {
namespace {

using namespace std::chrono_literals;
using core::AheadMark;
using core::Take;

class LimitFunctionTest : public StoreBed {
 protected:
  static Take take_of(const RateLimit& limit, const TakeOptions& options = {}) {
    return core::to_take(limit, options).value();
  }
  struct Taken {
    bool granted;
    Duration was;
  };
  Taken take(const Take& take, const std::string& key = "key") {
    const Answer answer = sql_.run("SELECT * FROM holdfast.take($1, $2, $3, $4)",
                                   {key,
                                    std::to_string(take.tolerance.count()),
                                    std::to_string(take.cost.count()),
                                    std::to_string(take.wait.count())});
    const Row& row = std::get<Rows>(answer).at(0);
    return {*row.at(0) == "t", Duration{std::stoll(*row.at(1))}};
  }
  AheadMark stored() {
    const Answer answer = sql_.run(
        "SELECT (extract(epoch FROM at) * 1000000)::bigint, ahead FROM holdfast.limits "
        "WHERE key = 'key'");
    const Rows& rows = std::get<Rows>(answer);
    if (rows.empty()) return {};
    return {.at = std::chrono::microseconds{std::stoll(*rows[0][0])},
            .ahead = Duration{std::stoll(*rows[0][1])}};
  }
};

TEST_F(LimitFunctionTest, DoesWhatTheDecisionSays) {
  std::mt19937 random{7};
  const auto below = [&](std::uint64_t bound) { return random() % bound; };
  int refused = 0;
  for (int i = 0; i < 500; ++i) {
    const RateLimit limit{.rate = {.permits = 1 + below(40), .per = 50ms}, .burst = 1 + below(8)};
    const Take next =
        take_of(limit, {.cost = 1 + below(limit.burst), .wait = Millis{below(3) * below(30)}});
    const AheadMark before = stored();
    const Taken taken = take(next);
    const RateDecision decision = core::decide(next, taken.was);
    ASSERT_EQ(taken.granted, decision.allowed);
    if (!decision.allowed) {
      ++refused;
      ASSERT_LE(taken.was, before.ahead);
      ASSERT_EQ(stored(), before);
      continue;
    }
    const AheadMark after = stored();
    ASSERT_EQ(taken.was, core::ahead_at(before, after.at));
    ASSERT_EQ(after.ahead, taken.was + next.cost);
  }
  EXPECT_GT(refused, 0);
}

TEST_F(LimitFunctionTest, AClockThatWentBackGivesNothingAndIsFollowed) {
  const Take one = take_of({.rate = Rate::per_hour(1)});
  EXPECT_TRUE(take(one).granted);
  sql_.script("UPDATE holdfast.limits SET at = at + interval '1 day'");
  const Taken refused = take(one);
  EXPECT_FALSE(refused.granted);
  EXPECT_EQ(refused.was, 1h);
  EXPECT_EQ(sql_.value("SELECT at < clock_timestamp() + interval '1 hour' FROM holdfast.limits"),
            "t");
}

TEST_F(LimitFunctionTest, TheLargestNumbersFit) {
  const Take most =
      take_of({.rate = {.permits = 3, .per = 24h * 30}}, {.cost = 2, .wait = 24h * 30});
  EXPECT_TRUE(take(most).granted);
  EXPECT_TRUE(take(most).granted);
  EXPECT_GT(stored().ahead, most.cost);
}

TEST_F(LimitFunctionTest, KeysThatNobodyUsesGo) {
  const Take one = take_of({.rate = Rate::per_second(1)});
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(take(one, std::to_string(i)).granted);
  sql_.script("UPDATE holdfast.limits SET forget = clock_timestamp() - interval '1 second'");
  EXPECT_TRUE(take(one, "new").granted);
  EXPECT_TRUE(take(one, "newer").granted);
  EXPECT_EQ(sql_.value("SELECT count(*) FROM holdfast.limits"), "2");
}

TEST_F(LimitFunctionTest, ManyConnectionsNeverGetMoreThanTheBurst) {
  const std::string url = this->url();
  std::atomic<int> granted{0};
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      SqlConnection sql{url};
      for (int n = 0; n < 20; ++n) {
        const std::string hour = "3600000000000";
        const std::string burst = "360000000000000";
        const bool may =
            sql.value("SELECT granted FROM holdfast.take('key', $1, $2, 0)", {burst, hour}) == "t";
        granted += may ? 1 : 0;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(granted, 100);
}

}  // namespace
}  // namespace holdfast::postgres
