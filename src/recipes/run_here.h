// Runs a recipe's task on the calling thread, which blocks until it has ended.

#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <optional>
#include <utility>

#include "base/task.h"
#include "holdfast/clock.h"
#include "recipes/asio_runner.h"

namespace holdfast::recipes {

/// Something to do between the steps of a task, every so often.
struct Chore {
  /// Zero: there is nothing to do.
  Duration every{0};
  std::function<void()> work{};
};

template <class T>
Task<void> put(Task<T> task, std::optional<T>& into) {
  T value = co_await std::move(task);
  into.emplace(std::move(value));
}

/// Precondition: not on a thread of Holdfast's own, which the task may wait for.
template <class T>
T run_here(Task<T> task, const Chore& chore = {}) {
  boost::asio::io_context context{1};
  const auto guard = boost::asio::make_work_guard(context);
  AsioRunner runner{context.get_executor()};
  std::optional<T> value;
  TaskStep first{put(std::move(task), value), runner};
  first();
  TimePoint due = BootClock::now() + chore.every;
  while (!value) {
    if (chore.every == Duration{0}) {
      context.run_one();
    } else if (const Duration left = due - BootClock::now(); left > Duration{0}) {
      context.run_one_for(left);
    } else {
      chore.work();
      due = BootClock::now() + chore.every;
    }
  }
  return *std::move(value);
}

}  // namespace holdfast::recipes
