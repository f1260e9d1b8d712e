#include "base/task.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/completion.h"
#include "base/parked.h"
#include "sim/world/sim_env.h"

namespace holdfast {
namespace {

/// Runs steps when told to.
class Steps final : public TaskRunner {
 public:
  ~Steps() { drop(); }

  void start(Task<void> task) {
    TaskStep first{std::move(task), *this};
    first();
  }
  void run_later(TaskStep step) override { steps_.push_back(std::move(step)); }
  std::size_t waiting() const { return steps_.size(); }
  void run() {
    for (TaskStep& step : std::exchange(steps_, {})) step();
  }
  void drop() {
    while (!steps_.empty()) std::exchange(steps_, {});
  }

 private:
  std::vector<TaskStep> steps_;
};

/// Says when it goes.
class Noted {
 public:
  Noted(std::string& log, char letter) : log_{log}, letter_{letter} {}
  ~Noted() { log_ += letter_; }
  Noted(const Noted&) = delete;
  Noted& operator=(const Noted&) = delete;

 private:
  std::string& log_;
  char letter_;
};

class Exact {
 public:
  explicit Exact(int number) : number_{std::make_unique<int>(number)} {}
  int number() const { return *number_; }

 private:
  std::unique_ptr<int> number_;
};

class TaskTest : public testing::Test {
 protected:
  Steps steps_;
  std::string log_;
  std::optional<Parked> parked_;
};

Task<void> park(std::optional<Parked>& parked) {
  const auto keep = [&parked](Parked task) { parked.emplace(std::move(task)); };
  co_await suspend(keep);
}

Task<int> seven() { co_return 7; }
Task<Exact> exactly(int number) { co_return Exact{number}; }
Task<Exact> twice(int number) {
  const Exact one = co_await exactly(number);
  co_return Exact{2 * one.number()};
}
Task<void> sum_up(int& sum) {
  sum += co_await seven();
  const Exact fourteen = co_await twice(7);
  sum += fourteen.number();
}

TEST_F(TaskTest, ResultsNeedBeMovableAndNothingElse) {
  int sum = 0;
  steps_.start(sum_up(sum));
  EXPECT_EQ(sum, 21);
}

Task<void> write(std::string& log, std::string word) {
  log += word;
  co_return;
}

TEST_F(TaskTest, NothingRunsBeforeTheStart) {
  {
    auto never = write(log_, "never");
    auto moved = std::move(never);
  }
  EXPECT_EQ(log_, "");
  TaskStep first{write(log_, "x"), steps_};
  EXPECT_EQ(log_, "");
  first();
  EXPECT_EQ(log_, "x");
}

Task<void> note_end(std::shared_ptr<Noted> parameter) {
  EXPECT_EQ(parameter.use_count(), 1);
  co_return;
}
Task<void> await_named(std::string& log) {
  auto task = note_end(std::make_shared<Noted>(log, 'a'));
  co_await std::move(task);
  log += 'b';
}

TEST_F(TaskTest, AnAwaitedTaskGoesWithItsAwait) {
  steps_.start(await_named(log_));
  EXPECT_EQ(log_, "ab");
}

TEST_F(TaskTest, ARootGoesWhenItEnds) {
  steps_.start(note_end(std::make_shared<Noted>(log_, 'a')));
  EXPECT_EQ(log_, "a");
}

Task<int> depth_of(int depth) {
  if (depth == 0) co_return 0;
  const int below = co_await depth_of(depth - 1);
  co_return below + 1;
}
Task<void> dive(int depth, int& reached) { reached = co_await depth_of(depth); }

TEST_F(TaskTest, TasksAwaitTasksManyLevelsDeep) {
  constexpr int kDepth = 100'000;
  int reached = 0;
  steps_.start(dive(kDepth, reached));
  EXPECT_EQ(reached, kDepth);
}

Task<void> await_often(int times, int& sum) {
  for (int i = 0; i < times; ++i) sum += co_await seven();
}

// Goal: tasks that need not wait do not fill the stack, in any build.
TEST_F(TaskTest, AwaitingInALoopTakesNoStack) {
  constexpr int kTimes = 1'000'000;
  int sum = 0;
  steps_.start(await_often(kTimes, sum));
  EXPECT_EQ(sum, 7 * kTimes);
}

Task<int> answer_later(std::optional<Parked>& parked, std::string& log) {
  const Noted inner{log, 'i'};
  co_await park(parked);
  log += 'r';
  co_return 1;
}
Task<void> outer(std::optional<Parked>& parked, std::string& log) {
  const Noted first{log, '1'};
  const Noted second{log, '2'};
  const int answer = co_await answer_later(parked, log);
  log += std::to_string(answer + 8);
}

TEST_F(TaskTest, AParkedTaskGoesOnInAStepOfItsOwn) {
  steps_.start(outer(parked_, log_));
  std::move(*parked_).resume();
  EXPECT_EQ(log_, "");
  EXPECT_EQ(steps_.waiting(), 1U);
  steps_.run();
  EXPECT_EQ(log_, "ri921");
}

TEST_F(TaskTest, AParkedTaskThatIsDroppedUnwindsFromWithin) {
  steps_.start(outer(parked_, log_));
  parked_.reset();
  EXPECT_EQ(log_, "");
  steps_.run();
  EXPECT_EQ(log_, "i21");
}

TEST_F(TaskTest, AStepThatIsNeverRunUnwindsItsTask) {
  steps_.start(outer(parked_, log_));
  std::move(*parked_).resume();
  steps_.drop();
  EXPECT_EQ(log_, "i21");
}

TEST_F(TaskTest, AFirstStepThatIsNeverRunFreesTheTask) {
  { const TaskStep first{note_end(std::make_shared<Noted>(log_, 'a')), steps_}; }
  EXPECT_EQ(log_, "a");
}

Task<void> spawn_other(Steps& steps, std::string& log) {
  const Noted noted{log, 's'};
  steps.start(write(log, "other"));
  log += '-';
  co_return;
}

TEST_F(TaskTest, ATaskMayStartAnother) {
  steps_.start(spawn_other(steps_, log_));
  EXPECT_EQ(log_, "other-s");
}

using OnText = Callback<56, std::string>;

Task<void> hear(std::optional<OnText>& told, std::string& log) {
  const Noted noted{log, 'n'};
  const auto start = [&told](auto handler) { told.emplace(std::move(handler)); };
  log += co_await completion<std::string>(start);
  log += co_await completion<std::string>(start);
}

TEST_F(TaskTest, ACompletionGoesOnInsideTheCall) {
  std::optional<OnText> told;
  steps_.start(hear(told, log_));
  auto first = *std::exchange(told, std::nullopt);
  first("a text too long to be kept inside a string ");
  EXPECT_EQ(log_, "a text too long to be kept inside a string ");
  auto second = *std::exchange(told, std::nullopt);
  second("two");
  EXPECT_EQ(log_, "a text too long to be kept inside a string twon");
}

TEST_F(TaskTest, ACompletionThatIsDroppedUnwindsLater) {
  std::optional<OnText> told;
  steps_.start(hear(told, log_));
  told.reset();
  EXPECT_EQ(log_, "");
  steps_.run();
  EXPECT_EQ(log_, "n");
}

Task<void> sleep_inside(Env& env, std::string& log) {
  const Noted inside{log, 'i'};
  co_await env.sleep_for(std::chrono::hours{1});
  log += "never";
}
Task<void> sleep_between(Env& env, std::string& log) {
  const Noted outside{log, 'o'};
  co_await sleep_inside(env, log);
}
Task<void> spawn_sleepers(Env& env, std::string& log) {
  env.spawn(sleep_between(env, log));
  env.spawn(sleep_between(env, log));
  log += '-';
  co_return;
}

TEST_F(TaskTest, AnEnvThatGoesUnwindsWhatIsParkedThere) {
  sim::Scheduler scheduler;
  {
    sim::SimEnv env{scheduler, 1};
    env.spawn(spawn_sleepers(env, log_));
    scheduler.advance(std::chrono::minutes{1});
    EXPECT_EQ(log_, "-");
  }
  EXPECT_EQ(log_, "-ioio");
}

Task<void> fail() {
  throw std::runtime_error{"defect"};
  co_return;
}

TEST(TaskDeathTest, AnExceptionThatLeavesATaskEndsTheProcess) {
  Steps steps;
  EXPECT_DEATH(steps.start(fail()), "kExceptionLeftTask");
}

}  // namespace
}  // namespace holdfast
