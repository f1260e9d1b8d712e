#include "core/purse.h"

#include <gtest/gtest.h>

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;

class PurseTest : public testing::Test {
 protected:
  static Take take_of(const RateLimit& limit, const TakeOptions& options = {}) {
    return to_take(limit, options).value();
  }
  /// Asks for more and is given it at once. How many permits.
  std::int64_t refill(const Take& take, Duration others = 0s) {
    const Duration time = purse_.wanted(take, others, now_).most.cost;
    purse_.add(time, now_, now_);
    return time / take.interval;
  }

  Purse purse_;
  TimePoint now_{1h};
};

TEST_F(PurseTest, AnEmptyOneMustBeFilled) {
  EXPECT_EQ(purse_.spend(take_of({.rate = Rate::per_second(10)}), now_), std::nullopt);
}

TEST_F(PurseTest, WhoComesOnceTakesOnlyWhatItNeeds) {
  const Take take = take_of({.rate = Rate::per_second(10'000)}, {.cost = 3});
  EXPECT_EQ(refill(take), 3);
  EXPECT_TRUE(purse_.spend(take, now_)->allowed);
  EXPECT_EQ(purse_.spend(take, now_), std::nullopt);
  now_ += 1h;
  EXPECT_EQ(refill(take), 3);
}

TEST_F(PurseTest, WhoComesOftenTakesMoreAndMoreAndNeverMoreThanAFifthOfASecond) {
  const Take take = take_of({.rate = Rate::per_second(1000)});
  std::int64_t last = 0;
  for (int i = 0; i < 20; ++i) {
    const std::int64_t got = refill(take);
    EXPECT_GE(got, last);
    last = got;
  }
  EXPECT_EQ(last, 200);
  EXPECT_EQ(refill(take, 10s), 200);
}

TEST_F(PurseTest, WhatIsNotUsedLapsesAndLessIsAskedForThen) {
  const Take take = take_of({.rate = Rate::per_second(1000)});
  for (int i = 0; i < 20; ++i) refill(take);
  now_ += Purse::kLate;
  EXPECT_TRUE(purse_.spend(take, now_)->allowed);
  now_ += 1ms;
  EXPECT_EQ(purse_.spend(take, now_), std::nullopt);
  EXPECT_LE(refill(take), 2);
}

TEST_F(PurseTest, ItsOwnCallsKeepTheBurst) {
  const Take take = take_of({.rate = Rate::per_second(1000), .burst = 2});
  for (int i = 0; i < 20; ++i) refill(take);
  EXPECT_TRUE(purse_.spend(take, now_)->allowed);
  EXPECT_TRUE(purse_.spend(take, now_)->allowed);
  const auto refused = purse_.spend(take, now_);
  EXPECT_FALSE(refused->allowed);
  EXPECT_EQ(refused->retry_after, 1ms);
}

TEST_F(PurseTest, NothingIsUsedBeforeTheEngineLetsIt) {
  const Take patient = take_of({.rate = Rate::per_second(10)}, {.wait = 200ms});
  purse_.add(100ms, now_ + 150ms, now_);
  EXPECT_FALSE(purse_.spend(take_of({.rate = Rate::per_second(10)}), now_)->allowed);
  EXPECT_EQ(purse_.spend(patient, now_)->delay, 150ms);
}

TEST_F(PurseTest, PermitsOfAnAllowanceGoOneAfterTheOther) {
  const Take patient = take_of({.rate = Rate::per_second(10)}, {.wait = 1s});
  purse_.add(300ms, now_ + 250ms, now_);
  EXPECT_EQ(purse_.spend(patient, now_)->delay, 50ms);
  EXPECT_EQ(purse_.spend(patient, now_)->delay, 150ms);
  EXPECT_EQ(purse_.spend(patient, now_)->delay, 250ms);
  EXPECT_EQ(purse_.spend(patient, now_), std::nullopt);
}

TEST_F(PurseTest, OneRequestMayBePaidFromSeveral) {
  const Take take = take_of({.rate = Rate::per_second(10)}, {.cost = 3, .wait = 1s});
  purse_.add(100ms, now_, now_);
  EXPECT_EQ(purse_.spend(take, now_), std::nullopt);
  purse_.add(200ms, now_ + 300ms, now_);
  EXPECT_EQ(purse_.spend(take, now_)->delay, 300ms);
  EXPECT_EQ(purse_.spend(take, now_), std::nullopt);
}

TEST_F(PurseTest, WhatWillHaveLapsedByThenIsNoHelp) {
  const Take take = take_of({.rate = Rate::per_second(10)}, {.cost = 2, .wait = 10s});
  purse_.add(100ms, now_, now_);
  purse_.add(100ms, now_ + Purse::kLate + 1ms, now_);
  EXPECT_EQ(purse_.spend(take, now_), std::nullopt);
  purse_.add(100ms, now_ + Purse::kLate + 2ms, now_);
  EXPECT_EQ(purse_.spend(take, now_)->delay, Purse::kLate + 2ms);
}

}  // namespace
}  // namespace holdfast::core
