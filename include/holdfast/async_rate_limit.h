// Rate limits for Boost.Asio programs: with coroutines, futures, callbacks or any completion token.
//
//     const auto taken = co_await holdfast::async_take(
//         limiter, "user/42", {.rate = Rate::per_second(10)}, {.wait = 2s});
//     if (taken && taken->allowed) co_await serve();
//
// Contracts as in rate_limit.h. Completion: through the handler's associated executor, never inside
// the call itself. The key is copied before a call returns.
// Cancellation: through the handler's cancellation slot, any type, ends the waiting with
// Errc::cancelled; the permits are spent.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "holdfast/async.h"
#include "holdfast/rate_limit.h"

namespace holdfast {
namespace detail {

/// One call that is under way: the engine is asked, then a timer waits.
template <class Handler>
class Taking : public std::enable_shared_from_this<Taking<Handler>> {
 public:
  explicit Taking(Handler handler)
      : timer_{boost::asio::get_associated_executor(handler)}, completion_{std::move(handler)} {}

  void begin(RateLimiter limiter,
             const std::string& key,
             const RateLimit& limit,
             const TakeOptions& options,
             std::stop_token stop) {
    stop_ = std::move(stop);
    limiter.async_reserve(
        key, limit, options, [self = this->shared_from_this()](Result<RateDecision> decision) {
          const auto executor = self->timer_.get_executor();
          boost::asio::post(executor, [self, decision = std::move(decision)]() mutable {
            self->wait(std::move(decision));
          });
        });
  }

  /// On the handler's executor, where the timer may be touched.
  void cancel() { timer_.cancel(); }

 private:
  void wait(Result<RateDecision> decision) {
    if (!decision || decision->delay == Duration::zero()) return complete(std::move(decision));
    if (stop_.stop_requested()) return complete(cancelled());
    timer_.expires_after(decision->delay);
    timer_.async_wait([self = this->shared_from_this(),
                       decision = std::move(decision)](boost::system::error_code failed) mutable {
      self->complete(failed ? cancelled() : std::move(decision));
    });
  }

  static Result<RateDecision> cancelled() {
    return Unexpected{Error{Errc::cancelled, "waiting for permits was cancelled; they are spent"}};
  }

  void complete(Result<RateDecision> decision) {
    Completion<Handler>::post(std::move(completion_), std::move(decision));
  }

  boost::asio::steady_timer timer_;
  Completion<Handler> completion_;
  std::stop_token stop_;
};

/// Starts a call, now or whenever the completion token does.
class TakeInitiation {
 public:
  TakeInitiation(RateLimiter limiter,
                 std::string_view key,
                 const RateLimit& limit,
                 const TakeOptions& options)
      : limiter_{std::move(limiter)}, key_{key}, limit_{limit}, options_{options} {}

  template <class Handler>
  void operator()(Handler&& handler) {
    using Call = Taking<std::decay_t<Handler>>;
    std::stop_source stop;
    auto slot = boost::asio::get_associated_cancellation_slot(handler);
    const auto call = std::make_shared<Call>(std::forward<Handler>(handler));
    if (slot.is_connected()) {
      slot.assign([stop, weak = std::weak_ptr{call}](boost::asio::cancellation_type type) mutable {
        if (type == boost::asio::cancellation_type::none) return;
        stop.request_stop();
        if (const auto taking = weak.lock()) taking->cancel();
      });
    }
    call->begin(std::move(limiter_), key_, limit_, options_, stop.get_token());
  }

 private:
  RateLimiter limiter_;
  std::string key_;
  RateLimit limit_;
  TakeOptions options_;
};

}  // namespace detail

/// RateLimiter::take: completes with Result<RateDecision>.
template <class CompletionToken = boost::asio::use_awaitable_t<>>
auto async_take(RateLimiter limiter,
                std::string_view key,
                const RateLimit& limit,
                const TakeOptions& options = {},
                CompletionToken&& token = CompletionToken{}) {
  return boost::asio::async_initiate<CompletionToken, void(Result<RateDecision>)>(
      detail::TakeInitiation{std::move(limiter), key, limit, options}, token);
}

}  // namespace holdfast
