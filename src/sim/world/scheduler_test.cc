#include "sim/world/scheduler.h"

#include <gtest/gtest.h>

#include <string>

#include "sim/world/sim_env.h"

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;

Task<void> sleep_then_note(Env& env, Duration duration, std::string& log, std::string word) {
  co_await env.sleep_for(duration);
  log += word;
}

class SchedulerTest : public testing::Test {
 protected:
  Scheduler scheduler_;
  SimEnv env_{scheduler_, 1};
  std::string log_;
};

TEST_F(SchedulerTest, EventsHappenInOrderOfTimeThenOfPlanning) {
  scheduler_.after(2s, [&] { log_ += 'c'; });
  scheduler_.after(1s, [&] { log_ += 'a'; });
  scheduler_.after(1s, [&] { log_ += 'b'; });
  scheduler_.advance(1s);
  EXPECT_EQ(log_, "ab");
  scheduler_.advance(1s);
  EXPECT_EQ(log_, "abc");
}

TEST_F(SchedulerTest, TimeJumpsAndEndsExactlyWhereAsked) {
  env_.spawn(sleep_then_note(env_, 24h, log_, "day"));
  scheduler_.advance(24h - 1ns);
  EXPECT_EQ(log_, "");
  scheduler_.advance(1ns);
  EXPECT_EQ(log_, "day");
  EXPECT_EQ(scheduler_.now(), TimePoint{24h});
}

TEST_F(SchedulerTest, RunUntilStopsAsSoonAsItIsDone) {
  env_.spawn(sleep_then_note(env_, 5s, log_, "x"));
  EXPECT_TRUE(scheduler_.run_until([&] { return log_ == "x"; }, 1h));
  EXPECT_EQ(scheduler_.now(), TimePoint{5s});
  EXPECT_FALSE(scheduler_.run_until([&] { return log_ == "y"; }, 1h));
  EXPECT_EQ(scheduler_.now(), TimePoint{5s + 1h});
}

TEST_F(SchedulerTest, APausedProcessSleepsOnUntilResumed) {
  env_.spawn(sleep_then_note(env_, 1s, log_, "x"));
  scheduler_.advance(0s);
  env_.pause();
  const TimePoint before = env_.now();
  scheduler_.advance(1min);
  EXPECT_EQ(log_, "");
  EXPECT_EQ(env_.now(), before + 1min);
  env_.resume();
  scheduler_.advance(0s);
  EXPECT_EQ(log_, "x");
}

TEST_F(SchedulerTest, ProcessesDoNotShareAClock) {
  const SimEnv other{scheduler_, 2};
  EXPECT_NE(other.now(), env_.now());
}

TEST_F(SchedulerTest, AKilledProcessUnwindsItsTasksAndRunsNothingAnyMore) {
  env_.spawn(sleep_then_note(env_, 1s, log_, "x"));
  scheduler_.advance(0s);
  env_.kill();
  env_.spawn(sleep_then_note(env_, 1s, log_, "y"));
  env_.post([&] { log_ += 'z'; });
  scheduler_.advance(1h);
  EXPECT_EQ(log_, "");
}

}  // namespace
}  // namespace holdfast::sim
