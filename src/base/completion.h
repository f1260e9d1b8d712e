// completion<T>(start): how a task awaits what calls back.

#pragma once

#include <coroutine>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "base/task_step.h"

namespace holdfast {

/// Called once, continues the task inside the call, with a T made of the arguments. Destroyed
/// instead, it unwinds the task. Small enough for a Callback to hold without an allocation.
template <class T>
class CompletionHandler {
 public:
  CompletionHandler(SuspendedTask task, void* room) noexcept
      : task_{std::move(task)}, room_{room} {}

  template <class... Args>
  void operator()(Args&&... args) {
    ::new (room_) T(std::forward<Args>(args)...);
    std::move(task_).resume();
  }

 private:
  SuspendedTask task_;
  void* room_;
};

/// Its room is raw, to be destroyed by hand: g++ 12 destroys some of what an awaiting expression
/// holds twice. Between the call and the task's next step nothing can come.
template <class T, class Start>
class Completion {
 public:
  explicit Completion(Start start) : start_{std::move(start)} {}

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> at) {
    Start start = std::move(start_);
    start(CompletionHandler<T>{SuspendedTask{at}, room_});
  }
  T await_resume() {
    T* const made = std::launder(reinterpret_cast<T*>(room_));
    T value = std::move(*made);
    std::destroy_at(made);
    return value;
  }

 private:
  Start start_;
  alignas(T) std::byte room_[sizeof(T)];
};

/// Awaited, calls `start` with a CompletionHandler and gives the T of which that is told. `start`
/// sees to it that the handler is called where the task runs, and not before `start` returns.
template <class T, class Start>
requires std::is_trivially_destructible_v<Start>
auto completion(Start start) { return Completion<T, Start>{std::move(start)}; }

}  // namespace holdfast
