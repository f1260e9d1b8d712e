// Gives a recipe's task to coroutines of users, which are Asio's.

#pragma once

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <memory>
#include <utility>

#include "base/task.h"
#include "recipes/asio_runner.h"

namespace holdfast::recipes {

template <class T, class Handler>
Task<void> run_and_tell(std::unique_ptr<AsioRunner> runner, Task<T> task, Handler handler) {
  T value = co_await std::move(task);
  auto tell = [handler = std::move(handler), value = std::move(value)]() mutable {
    std::move(handler)(std::move(value));
  };
  // Never inside: who awaits one task after another that need not wait would fill the stack.
  boost::asio::post(runner->executor(), std::move(tell));
}

/// Runs the task on the executor of who awaits it, from when it is awaited.
template <class T>
boost::asio::awaitable<T> as_awaitable(Task<T> task) {
  constexpr auto initiate = [](auto handler, Task<T> begun) {
    auto runner = std::make_unique<AsioRunner>(boost::asio::get_associated_executor(handler));
    AsioRunner& kept_by_task = *runner;
    TaskStep first{run_and_tell(std::move(runner), std::move(begun), std::move(handler)),
                   kept_by_task};
    first();
  };
  constexpr boost::asio::use_awaitable_t<> token{};
  co_return co_await boost::asio::async_initiate<const boost::asio::use_awaitable_t<>, void(T)>(
      initiate, token, std::move(task));
}

}  // namespace holdfast::recipes
