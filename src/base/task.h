// Task<T>: an asynchronous operation, as a coroutine that starts when it is awaited or spawned.
//
// A task that was spawned is a root: it owns the tasks it awaits, through the frames in which they
// are awaited, and ends by itself. While it runs nobody owns it; while it waits, whoever will
// resume it does (task_step.h). A Task that was neither awaited nor spawned goes with its object.
//
// Parameters of a Task are taken by value, or by reference where the contract says whose they are
// and that they outlive the await. Name arguments before you await: g++ 12 destroys aggregate and
// capturing-lambda temporaries of an awaiting expression twice.
//
// Why they are not Asio's: docs/adr/0017-tasks-are-our-own-coroutines.md.
//
// Thread safety: none; a task runs in one place at a time.

#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/assert.h"
#include "base/frame_pool.h"

namespace holdfast {

template <class T>
class Task;
template <class T>
class TaskPromise;
class TaskRunner;

/// While a task runs, on the stack of who runs it: the coroutine to go on with when this one lets
/// go. Coroutines do not hand over to each other by themselves, because g++ does that by calls that
/// fill the stack unless it optimises, and with sanitizers even then.
struct TaskTurn {
  std::coroutine_handle<> next;
};

/// Goes on with who awaits the task. A root has no other owner when it ends.
struct TaskEnd {
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> ended) const noexcept {
    const Promise& promise = ended.promise();
    if (promise.awaited_by) {
      promise.root->turn->next = promise.awaited_by;
    } else {
      ended.destroy();
    }
  }
  void await_resume() const noexcept {}
};

class TaskPromiseBase {
 public:
  static void* operator new(std::size_t size) { return take_frame(size); }
  static void operator delete(void* frame, std::size_t size) noexcept { free_frame(frame, size); }

  std::suspend_always initial_suspend() const noexcept { return {}; }
  TaskEnd final_suspend() const noexcept { return {}; }
  void unhandled_exception() const noexcept {
    constexpr bool kExceptionLeftTask = true;
    HOLDFAST_ASSERT(!kExceptionLeftTask);
  }

  /// Empty: a root.
  std::coroutine_handle<> awaited_by{};
  /// Of all tasks that are awaited from it. Set before the task starts.
  TaskPromise<void>* root{nullptr};
};

template <class T>
class TaskPromise final : public TaskPromiseBase {
 public:
  Task<T> get_return_object() noexcept;

  template <class U = T>
  requires std::convertible_to<U&&, T>
  void return_value(U&& value) { value_.emplace(std::forward<U>(value)); }

  T take() { return *std::move(value_); }

 private:
  std::optional<T> value_;
};

template <>
class TaskPromise<void> final : public TaskPromiseBase {
 public:
  Task<void> get_return_object() noexcept;
  void return_void() const noexcept {}
  void take() const noexcept {}

  /// Of a root.
  TaskRunner* runner{nullptr};
  /// Of a root, while it runs.
  TaskTurn* turn{nullptr};
};

template <class T>
class [[nodiscard]] Task {
 public:
  using promise_type = TaskPromise<T>;
  using Frame = std::coroutine_handle<promise_type>;

  Task(Task&& other) noexcept : frame_{std::exchange(other.frame_, nullptr)} {}
  Task& operator=(Task&& other) noexcept {
    Task{std::move(other)}.swap(*this);
    return *this;
  }
  ~Task() {
    if (frame_) frame_.destroy();
  }

  /// Awaited once: starts the task, gives its result, and frees its frame.
  auto operator co_await() && noexcept { return Await{*this}; }

  /// Whoever has the frame starts it or destroys it.
  Frame release() && noexcept { return std::exchange(frame_, nullptr); }

 private:
  friend promise_type;

  // It refers and does not own: g++ 12 destroys some of what an awaiting expression holds twice.
  class Await {
   public:
    explicit Await(Task& task) noexcept : task_{task} {}

    bool await_ready() const noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> awaiting) const noexcept {
      TaskPromiseBase& promise = task_.frame_.promise();
      promise.awaited_by = awaiting;
      promise.root = awaiting.promise().root;
      promise.root->turn->next = task_.frame_;
    }
    T await_resume() const {
      const Task ended{std::move(task_)};
      return ended.frame_.promise().take();
    }

   private:
    Task& task_;
  };

  explicit Task(Frame frame) noexcept : frame_{frame} {}
  void swap(Task& other) noexcept { std::swap(frame_, other.frame_); }

  Frame frame_;
};

template <class T>
Task<T> TaskPromise<T>::get_return_object() noexcept {
  return Task<T>{Task<T>::Frame::from_promise(*this)};
}

inline Task<void> TaskPromise<void>::get_return_object() noexcept {
  return Task<void>{Task<void>::Frame::from_promise(*this)};
}

}  // namespace holdfast
