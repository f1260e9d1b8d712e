// Parked: a suspended task in somebody's keeping.
//
// Resuming it continues the task later, through the Env it runs in, never inside the call.
// Destroying it instead unwinds the task, likewise later, which frees everything the task owns.
//
// Thread safety: none; it belongs to the Env its task runs in.

#pragma once

#include <coroutine>
#include <type_traits>
#include <utility>

#include "base/callback.h"
#include "base/task_step.h"

namespace holdfast {

class Parked {
 public:
  explicit Parked(SuspendedTask task)
      : resume_{[task = std::move(task)]() mutable { std::move(task).resume_later(); }} {}

  /// One that is resumed by `resume`, which must not continue it at once.
  explicit Parked(Work resume) : resume_{std::move(resume)} {}

  /// Precondition: not resumed before.
  void resume() && {
    Work resume = std::move(resume_);
    resume();
  }

 private:
  Work resume_;
};

template <class Keep>
class Suspension {
 public:
  explicit Suspension(Keep keep) : keep_{std::move(keep)} {}

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> at) {
    // Where the task may go on before `keep` returns, this object goes with it.
    Keep keep = std::move(keep_);
    keep(Parked{SuspendedTask{at}});
  }
  void await_resume() const noexcept {}

 private:
  Keep keep_;
};

/// Awaited, suspends the awaiting task and hands it to `keep`, a callable that takes a Parked. It
/// is not a Task, which would be a coroutine more for every wait; `keep` is trivially destructible,
/// because g++ 12 destroys some of what an awaiting expression holds twice.
template <class Keep>
requires std::is_trivially_destructible_v<Keep>
auto suspend(Keep keep) { return Suspension<Keep>{std::move(keep)}; }

}  // namespace holdfast
