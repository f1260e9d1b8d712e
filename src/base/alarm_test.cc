#include "base/alarm.h"

#include <gtest/gtest.h>

#include <optional>

#include "sim/world/sim_env.h"

namespace holdfast {
namespace {

using namespace std::chrono_literals;

class AlarmTest : public testing::Test {
 protected:
  struct Woken {
    Wake how;
    TimePoint when;
  };

  static Task<void> wait(Env& env, Alarm& alarm, TimePoint due, std::optional<Woken>& woken) {
    const Wake how = co_await alarm.wait_until(due);
    woken = {how, env.now()};
  }

  void start_wait(Duration duration) {
    woken_.reset();
    env_.spawn(wait(env_, alarm_, env_.now() + duration, woken_));
    scheduler_.advance(0s);
  }

  sim::Scheduler scheduler_;
  sim::SimEnv env_{scheduler_, 1};
  Alarm alarm_{env_};
  std::optional<Woken> woken_;
};

TEST_F(AlarmTest, WakesWhenDue) {
  const TimePoint start = env_.now();
  start_wait(5s);
  scheduler_.advance(1h);
  ASSERT_TRUE(woken_);
  EXPECT_EQ(woken_->how, Wake::due);
  EXPECT_EQ(woken_->when, start + 5s);
}

TEST_F(AlarmTest, WakesWhenRung) {
  start_wait(5s);
  scheduler_.advance(1s);
  EXPECT_FALSE(woken_);
  const TimePoint rung_at = env_.now();
  alarm_.ring();
  scheduler_.advance(1h);
  ASSERT_TRUE(woken_);
  EXPECT_EQ(woken_->how, Wake::rung);
  EXPECT_EQ(woken_->when, rung_at);
}

TEST_F(AlarmTest, RemembersOneRingForTheNextWait) {
  alarm_.ring();
  alarm_.ring();
  start_wait(5s);
  ASSERT_TRUE(woken_);
  EXPECT_EQ(woken_->how, Wake::rung);
  start_wait(5s);
  EXPECT_FALSE(woken_);
  scheduler_.advance(5s);
  EXPECT_EQ(woken_->how, Wake::due);
}

TEST_F(AlarmTest, DoesNotWaitForATimeThatHasPassed) {
  start_wait(-5s);
  ASSERT_TRUE(woken_);
  EXPECT_EQ(woken_->how, Wake::due);
}

TEST_F(AlarmTest, SleepersDueTogetherWakeInTheOrderInWhichTheyLayDown) {
  std::string log;
  const auto sleep = [](Env& env, std::string& out, char mark) -> Task<void> {
    co_await env.sleep_for(1s);
    out += mark;
  };
  for (const char mark : {'a', 'b', 'c'}) env_.spawn(sleep(env_, log, mark));
  scheduler_.advance(1s);
  EXPECT_EQ(log, "abc");
}

}  // namespace
}  // namespace holdfast
