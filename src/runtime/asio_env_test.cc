#include "runtime/asio_env.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <csignal>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
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

// Handlers of the application must not run on it.
TEST_F(AsioEnvTest, ItsThreadTakesNoSignals) {
  std::promise<sigset_t> mask;
  env_->post([&] {
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    mask.set_value(blocked);
  });
  const sigset_t blocked = get(mask.get_future());
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGCHLD, SIGALRM, SIGPROF}) {
    EXPECT_EQ(sigismember(&blocked, number), 1) << number;
  }
  sigset_t own;
  pthread_sigmask(SIG_SETMASK, nullptr, &own);
  EXPECT_EQ(sigismember(&own, SIGTERM), 0) << "the thread that starts it keeps its mask";
}

TEST_F(AsioEnvTest, DrawsDiffer) {
  std::set<std::uint64_t> drawn;
  for (int i = 0; i < 1000; ++i) drawn.insert(env_->draw());
  EXPECT_EQ(drawn.size(), 1000U);
  EXPECT_NE(env_->fresh_owner(), env_->fresh_owner());
}

class Noted : public Awaited {
 public:
  void set(std::thread::id thread) {
    make_known([&] { thread_ = thread; });
  }
  std::thread::id thread() const { return thread_; }

 private:
  std::thread::id thread_;
};

using SharedNoted = std::shared_ptr<Noted>;

Task<void> sleep_and_note(Env& env, Duration nap, SharedNoted noted) {
  co_await env.sleep_for(nap);
  noted->set(std::this_thread::get_id());
}

/// A call that takes that long. Whether it was answered by `limit`, and on which thread.
std::optional<std::thread::id> call(Env& env, Duration nap, TimePoint limit = TimePoint::max()) {
  const auto noted = std::make_shared<Noted>();
  if (!env.spawn_and_wait(sleep_and_note(env, nap, noted), *noted, limit)) return std::nullopt;
  return noted->thread();
}

TEST_F(AsioEnvTest, ACallerRunsItsTaskItselfOnceTheKeeperHasLeft) {
  const TimePoint end = env_->now() + kBound;
  bool ran = false;
  while (!ran && env_->now() < end) ran = call(*env_, 0ms) == std::this_thread::get_id();
  EXPECT_TRUE(ran);
}

TEST_F(AsioEnvTest, ACallerGivesUpAtItsLimitAndTheTaskGoesOn) {
  const auto noted = std::make_shared<Noted>();
  EXPECT_FALSE(env_->spawn_and_wait(sleep_and_note(*env_, 50ms, noted), *noted, env_->now()));
  EXPECT_TRUE(noted->sleep_until(env_->now() + kBound));
}

TEST_F(AsioEnvTest, SleepersWakeWhileNobodyCallsAfterACall) {
  EXPECT_TRUE(call(*env_, 0ms));
  const auto later = std::make_shared<Noted>();
  env_->spawn(sleep_and_note(*env_, 5ms, later));
  EXPECT_TRUE(later->sleep_until(env_->now() + kBound));
  EXPECT_NE(later->thread(), std::this_thread::get_id());
}

TEST_F(AsioEnvTest, TasksOfOthersAreRunWhileACallerRunsTheLoopForLong) {
  std::thread caller{[&] { EXPECT_TRUE(call(*env_, 300ms)); }};
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(call(*env_, 1ms, env_->now() + kBound));
  caller.join();
}

Task<void> visit(int& inside, SharedNoted noted) {
  // Tasks run one at a time, on whatever thread: a race would be seen by a sanitizer.
  ++inside;
  noted->set(std::this_thread::get_id());
  co_return;
}

TEST_F(AsioEnvTest, ManyCallersAreAllAnswered) {
  constexpr int kCallers = 16;
  constexpr int kCalls = 500;
  std::atomic<int> answered{0};
  int inside = 0;
  const auto call_often = [&] {
    for (int n = 0; n < kCalls; ++n) {
      const auto noted = std::make_shared<Noted>();
      if (env_->spawn_and_wait(visit(inside, noted), *noted, TimePoint::max())) ++answered;
    }
  };
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < kCallers; ++i) callers.emplace_back(call_often);
  }
  EXPECT_EQ(answered.load(), kCallers * kCalls);
  env_.reset();
  EXPECT_EQ(inside, kCallers * kCalls);
}

TEST_F(AsioEnvTest, QuietWorkIsDoneSoonToo) {
  EXPECT_TRUE(call(*env_, 0ms));
  const auto done = std::make_shared<std::promise<void>>();
  auto future = done->get_future();
  env_->post_quietly([done] { done->set_value(); });
  EXPECT_EQ(future.wait_for(kBound), std::future_status::ready);
}

Task<void> count_and_plan(AsioEnv& env, int& ran, std::vector<int>& ends) {
  if (ran++ == 0) env.run_after_tasks([&] { ends.push_back(ran); });
  co_return;
}

// However many callers there are, the first part of their requests leaves soon.
TEST_F(AsioEnvTest, ATurnEndsAfterSomeTasksOfMany) {
  constexpr int kMany = 3 * AsioEnv::kTasksInTurn;
  int ran = 0;
  std::vector<int> ends;
  std::promise<void> ready;
  const auto all_there = ready.get_future().share();
  env_->post([all_there] { all_there.wait(); });
  for (int i = 0; i < kMany; ++i) env_->spawn(count_and_plan(*env_, ran, ends));
  ready.set_value();
  std::promise<int> all;
  env_->post([&] { env_->post([&] { all.set_value(ran); }); });
  EXPECT_EQ(get(all.get_future()), kMany);
  EXPECT_EQ(ends, std::vector<int>{AsioEnv::kTasksInTurn});
}

TEST_F(AsioEnvTest, RunsHereIsTrueWithinTasksAlone) {
  EXPECT_FALSE(env_->runs_here());
  std::promise<bool> inside;
  auto future = inside.get_future();
  env_->post([&] { inside.set_value(env_->runs_here()); });
  EXPECT_TRUE(get(std::move(future)));
}

}  // namespace
}  // namespace holdfast::runtime
