#include "runtime/idle_watch.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <future>

namespace holdfast::runtime {
namespace {

using namespace std::chrono_literals;

constexpr auto kBound = 30s;
constexpr auto kMoment = 20ms;

class IdleWatchTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(watch_.open());
    ASSERT_EQ(pipe(ends_), 0);
    watch_.add(ends_[0]);
  }
  void TearDown() override {
    for (const int end : ends_) close(end);
  }

  void happen() { ASSERT_EQ(write(ends_[1], "x", 1), 1); }

  std::future<void> sleeper() {
    return std::async(std::launch::async, [this] { watch_.wait(); });
  }
  static bool wakes(std::future<void>& sleeper) {
    return sleeper.wait_for(kBound) == std::future_status::ready;
  }
  static bool sleeps(std::future<void>& sleeper) {
    return sleeper.wait_for(kMoment) == std::future_status::timeout;
  }

  IdleWatch watch_;
  int ends_[2]{};
};

TEST_F(IdleWatchTest, WakesWhenSomethingHappens) {
  watch_.arm();
  auto thread = sleeper();
  EXPECT_TRUE(sleeps(thread));
  happen();
  EXPECT_TRUE(wakes(thread));
}

TEST_F(IdleWatchTest, WakesAtOnceByWhatHappenedBeforeItWasArmed) {
  happen();
  watch_.arm();
  auto thread = sleeper();
  EXPECT_TRUE(wakes(thread));
}

// The byte is still unread.
TEST_F(IdleWatchTest, WhatIsForgottenDoesNotWake) {
  happen();
  watch_.forget();
  watch_.arm();
  auto thread = sleeper();
  EXPECT_TRUE(sleeps(thread));
  happen();
  EXPECT_TRUE(wakes(thread));
}

TEST_F(IdleWatchTest, DisarmedItWakesByCallsAlone) {
  watch_.arm();
  auto thread = sleeper();
  watch_.disarm();
  happen();
  EXPECT_TRUE(sleeps(thread));
  watch_.call_after(0s);
  EXPECT_TRUE(wakes(thread));
}

TEST_F(IdleWatchTest, ACallBeforeTheSleepIsNotLost) {
  watch_.call_after(0s);
  auto thread = sleeper();
  EXPECT_TRUE(wakes(thread));
}

TEST_F(IdleWatchTest, ACallIsNotHeardBeforeItsTime) {
  const TimePoint before = BootClock::now();
  watch_.call_after(kMoment);
  watch_.wait();
  EXPECT_GE(BootClock::now() - before, kMoment);
}

TEST_F(IdleWatchTest, ACallIsHeardOnce) {
  watch_.call_after(0s);
  watch_.wait();
  auto thread = sleeper();
  EXPECT_TRUE(sleeps(thread));
  watch_.call_after(0s);
  EXPECT_TRUE(wakes(thread));
}

}  // namespace
}  // namespace holdfast::runtime
