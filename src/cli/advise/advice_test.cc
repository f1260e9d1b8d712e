#include "cli/advise/advice.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

LockTimes times(Duration hold_p99, std::uint64_t samples, std::uint64_t contended) {
  return {.hold = {.samples = samples, .p50 = hold_p99 / 2, .p99 = hold_p99},
          .wait = {.samples = samples, .p50 = 1us, .p99 = 1us},
          .contended = contended};
}

std::string about(const std::vector<Advice>& advice, std::string_view topic) {
  const auto found = std::ranges::find(advice, topic, &Advice::topic);
  return found == advice.end() ? "" : found->text;
}

TEST(AdviceTest, TtlIsFiveToTenTimesTheHoldWithinItsBounds) {
  for (Duration hold = 1us; hold < 24h; hold = hold * 21 / 20 + 1ns) {
    const Millis ttl = advised_ttl(hold);
    EXPECT_GE(ttl, 1s);
    EXPECT_LE(ttl, 5min);
    EXPECT_GE(ttl, std::min<Duration>(5 * hold, 5min)) << hold.count();
    EXPECT_LE(ttl, std::max<Duration>(10 * hold, 1s)) << hold.count();
  }
}

TEST(AdviceTest, LowContentionNeedsNoLock) {
  const auto low = advise(times(100ms, 1000, 10), "local:/x");
  EXPECT_NE(about(low, "lock").find("`update`"), std::string::npos);
  const auto high = advise(times(100ms, 1000, 500), "local:/x");
  EXPECT_NE(about(high, "lock").find("a lock is right"), std::string::npos);
}

TEST(AdviceTest, FewSamplesAreCalledFew) {
  EXPECT_NE(about(advise(times(1s, 7, 0), "local:"), "samples"), "");
  EXPECT_EQ(about(advise(times(1s, 100, 0), "local:"), "samples"), "");
}

TEST(AdviceTest, LongQueueIsNotedAsOne) {
  LockTimes crowded = times(1s, 1000, 900);
  crowded.wait.p99 = 11s;
  EXPECT_NE(about(advise(crowded, "local:"), "waiting").find("--permits"), std::string::npos);
  crowded.wait.p99 = 9s;
  EXPECT_EQ(about(advise(crowded, "local:"), "waiting"), "");
}

TEST(AdviceTest, EveryEngineWithAStoreIsKnown) {
  for (const char* url : {"local:/x",
                          "redis://a",
                          "rediss://a",
                          "redis+sentinel://a/b",
                          "etcd://a",
                          "etcds://a",
                          "zookeeper://a",
                          "postgres://a",
                          "postgresql://a"}) {
    EXPECT_NE(about(advise(times(1s, 1, 0), url), "engine"), "") << url;
  }
}

}  // namespace
}  // namespace holdfast::cli
