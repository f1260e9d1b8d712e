#include "runtime/asio_env.h"

#include <gtest/gtest.h>

#include <future>
#include <set>
#include <string>
#include <vector>

#include "base/alarm.h"

namespace holdfast::runtime {
namespace {

using namespace std::chrono_literals;

// Far longer than anything here takes; a test that needs it fails.
constexpr auto kBound = 30s;

class AsioEnvTest : public testing::Test {
 protected:
  template <class T>
  static T get(std::future<T> future) {
    EXPECT_EQ(future.wait_for(kBound), std::future_status::ready);
    return future.get();
  }

  std::unique_ptr<AsioEnv> env_ = *AsioEnv::create();
};

Task<void> sleep_and_tell(Env& env, TimePoint until, std::promise<TimePoint> woken) {
  co_await env.sleep_until(until);
  woken.set_value(env.now());
}

TEST_F(AsioEnvTest, SleepersWakeWhenDueAndNeverBefore) {
  const TimePoint until = env_->now() + 20ms;
  std::promise<TimePoint> woken;
  auto future = woken.get_future();
  env_->spawn(sleep_and_tell(*env_, until, std::move(woken)));
  EXPECT_GE(get(std::move(future)), until);
}

Task<void> sleep_and_mark(Env& env, Duration nap, char mark, std::string& log) {
  co_await env.sleep_for(nap);
  log += mark;
}

Task<void> sleep_and_read(Env& env, Duration nap, std::string& log, std::promise<std::string> out) {
  co_await env.sleep_for(nap);
  out.set_value(log);
}

// Planned out of order, so that the timer is set to an earlier time after a later one.
TEST_F(AsioEnvTest, SleepersWakeInTheOrderOfTheirTimes) {
  std::string log;
  std::promise<std::string> read;
  auto future = read.get_future();
  env_->spawn(sleep_and_mark(*env_, 30ms, 'c', log));
  env_->spawn(sleep_and_mark(*env_, 10ms, 'a', log));
  env_->spawn(sleep_and_mark(*env_, 20ms, 'b', log));
  env_->spawn(sleep_and_read(*env_, 60ms, log, std::move(read)));
  EXPECT_EQ(get(std::move(future)), "abc");
}

TEST_F(AsioEnvTest, ATimeThatHasPassedIsNoSleep) {
  std::promise<TimePoint> woken;
  auto future = woken.get_future();
  env_->spawn(sleep_and_tell(*env_, TimePoint{}, std::move(woken)));
  get(std::move(future));
}

Task<void> wait_and_tell(Alarm& alarm, TimePoint due, std::promise<Wake> woken) {
  const Wake how = co_await alarm.wait_until(due);
  woken.set_value(how);
}

TEST_F(AsioEnvTest, AnAlarmIsRungFromAnotherThreadByPosting) {
  Alarm alarm{*env_};
  std::promise<Wake> woken;
  auto future = woken.get_future();
  env_->spawn(wait_and_tell(alarm, TimePoint::max(), std::move(woken)));
  env_->post([&] { alarm.ring(); });
  EXPECT_EQ(get(std::move(future)), Wake::rung);
}

TEST_F(AsioEnvTest, AnAlarmNobodyRingsIsDue) {
  Alarm alarm{*env_};
  std::promise<Wake> woken;
  auto future = woken.get_future();
  env_->spawn(wait_and_tell(alarm, env_->now() + 5ms, std::move(woken)));
  EXPECT_EQ(get(std::move(future)), Wake::due);
}

Task<void> count(int& counter, int target, std::promise<int>& done) {
  if (++counter == target) done.set_value(counter);
  co_return;
}

// The counter is bare: were two tasks to run at once, ThreadSanitizer or the sum would tell.
TEST_F(AsioEnvTest, TasksFromManyThreadsRunOneAtATime) {
  constexpr int kThreads = 4;
  constexpr int kEach = 250;
  int counter = 0;
  std::promise<int> done;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < kEach; ++n) env_->spawn(count(counter, kThreads * kEach, done));
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(get(done.get_future()), kThreads * kEach);
}

Task<void> hold_and_sleep(Env& env, std::shared_ptr<int> held, std::promise<void> asleep) {
  asleep.set_value();
  co_await env.sleep_until(TimePoint::max());
  *held = 1;
}

TEST_F(AsioEnvTest, DestroyingItUnwindsTasksThatSleep) {
  const auto held = std::make_shared<int>(0);
  std::promise<void> asleep;
  auto future = asleep.get_future();
  env_->spawn(hold_and_sleep(*env_, held, std::move(asleep)));
  get(std::move(future));
  env_.reset();
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_EQ(*held, 0);
}

TEST_F(AsioEnvTest, DrawsDiffer) {
  std::set<std::uint64_t> drawn;
  for (int i = 0; i < 1000; ++i) drawn.insert(env_->draw());
  EXPECT_EQ(drawn.size(), 1000U);
  EXPECT_NE(env_->fresh_owner(), env_->fresh_owner());
}

}  // namespace
}  // namespace holdfast::runtime
