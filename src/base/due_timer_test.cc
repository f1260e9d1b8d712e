#include "base/due_timer.h"

#include <gtest/gtest.h>

#include <optional>

#include "sim/world/sim_env.h"

namespace holdfast {
namespace {

using namespace std::chrono_literals;

class DueTimerTest : public testing::Test {
 protected:
  sim::Scheduler scheduler_;
  sim::SimEnv env_{scheduler_, 1};
  int calls_{0};
  std::optional<DueTimer> timer_{std::in_place, env_, [this] { ++calls_; }};
};

TEST_F(DueTimerTest, GoesOffOnceWhenDue) {
  timer_->set(env_.now() + 2s);
  scheduler_.advance(1s);
  EXPECT_EQ(calls_, 0);
  scheduler_.advance(2s);
  EXPECT_EQ(calls_, 1);
  scheduler_.advance(5s);
  EXPECT_EQ(calls_, 1);
}

TEST_F(DueTimerTest, GoesOffAtTheEarliestOfSeveralTimes) {
  timer_->set(env_.now() + 5s);
  timer_->set(env_.now() + 1s);
  timer_->set(env_.now() + 3s);
  scheduler_.advance(2s);
  EXPECT_EQ(calls_, 1);
}

TEST_F(DueTimerTest, CallsNobodyOnceItIsGone) {
  timer_->set(env_.now() + 1s);
  timer_.reset();
  scheduler_.advance(2s);
  EXPECT_EQ(calls_, 0);
}

}  // namespace
}  // namespace holdfast
