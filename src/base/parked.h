// Parked: a suspended task in somebody's keeping.
//
// Resuming it continues the task later, through its own executor, never inside the call. Destroying
// it instead unwinds the task, which frees everything the task owns.
//
// Thread safety: none; it belongs to the Env its task runs in.

#pragma once

#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/post.hpp>
#include <type_traits>
#include <utility>

#include "base/callback.h"
#include "base/task.h"

namespace holdfast {

class Parked {
 public:
  template <class Handler>
  requires(!std::is_same_v<Handler, Parked> &&
           !std::is_same_v<Handler, Work>) explicit Parked(Handler handler)
      : resume_{
            [handler = std::move(handler)]() mutable { boost::asio::post(std::move(handler)); }} {}

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

/// Awaited, suspends the awaiting task and hands it to `keep`, a callable that takes a Parked. It
/// is an operation and not a Task, which would be a coroutine more for every wait; `keep` is
/// trivially destructible, because g++ 12 destroys what an awaiting expression holds twice.
template <class Keep>
requires std::is_trivially_destructible_v<Keep>
auto suspend(Keep keep) {
  constexpr auto initiate = [](auto handler, Keep keeper) { keeper(Parked{std::move(handler)}); };
  return boost::asio::async_initiate<const boost::asio::deferred_t, void()>(
      initiate, boost::asio::deferred, std::move(keep));
}

}  // namespace holdfast
