// What a task that does not run is kept in: TaskStep by whoever runs it, SuspendedTask by whoever
// it waits for. Each owns the whole task, from its root.
//
// Thread safety: none; they belong to where the task runs.

#pragma once

#include <coroutine>
#include <utility>

#include "base/task.h"

namespace holdfast {

/// The next step of a task, called once. Destroyed instead, it unwinds the task.
class TaskStep {
 public:
  /// The first step of a root, which `runner` outlives.
  TaskStep(Task<void> task, TaskRunner& runner) noexcept;
  /// Precondition: not called before.
  void operator()();

  TaskStep(TaskStep&& other) noexcept : TaskStep{other.at_, std::exchange(other.root_, nullptr)} {}
  TaskStep& operator=(TaskStep&&) = delete;
  ~TaskStep() {
    if (root_ != nullptr) unwind(*root_);
  }

 private:
  friend class SuspendedTask;
  using Root = TaskPromise<void>;

  TaskStep(std::coroutine_handle<> at, Root* root) noexcept : at_{at}, root_{root} {}
  static void unwind(Root& root) { Task<void>::Frame::from_promise(root).destroy(); }

  /// Empty: the step is to unwind the task.
  std::coroutine_handle<> at_;
  Root* root_;
};

/// Where tasks run.
class TaskRunner {
 public:
  /// Calls the step later, never inside this call, or destroys it.
  virtual void run_later(TaskStep step) = 0;

 protected:
  TaskRunner() = default;
  ~TaskRunner() = default;
  TaskRunner(const TaskRunner&) = default;
  TaskRunner& operator=(const TaskRunner&) = default;
};

/// A task that waits. Destroyed before it is resumed, it has the task unwound where that runs:
/// later, because those who drop what they were to call back are not done with themselves.
class SuspendedTask {
 public:
  template <class Promise>
  explicit SuspendedTask(std::coroutine_handle<Promise> at) noexcept
      : step_{at, at.promise().root} {}

  SuspendedTask(SuspendedTask&&) noexcept = default;
  SuspendedTask& operator=(SuspendedTask&&) = delete;
  ~SuspendedTask() {
    if (step_.root_ == nullptr) return;
    step_.at_ = nullptr;
    std::move(*this).resume_later();
  }

  /// Continues it inside this call. Both: precondition: not resumed before.
  void resume() && { step_(); }
  void resume_later() && {
    TaskRunner& runner = *step_.root_->runner;
    runner.run_later(std::move(step_));
  }

 private:
  TaskStep step_;
};

inline TaskStep::TaskStep(Task<void> task, TaskRunner& runner) noexcept {
  const auto frame = std::move(task).release();
  root_ = &frame.promise();
  root_->root = root_;
  root_->runner = &runner;
  at_ = frame;
}

}  // namespace holdfast
