// Locks for Boost.Asio programs: with coroutines, futures, callbacks or any completion token.
//
//     auto lease = co_await holdfast::async_acquire(client, "reports/daily", {.ttl = 10s});
//     if (!lease) co_return report(lease.error());
//     co_await write_report(lease->token());
//     co_await holdfast::async_release(std::move(*lease));
//
// Completion: through the handler's associated executor, never inside the call itself. The executor
// has work outstanding until then; its context must live that long.
// Cancellation: through the handler's cancellation slot, any type. A cancelled acquire completes
// with Errc::cancelled and holds nothing, or with the lease if that was granted first.
// A result that nobody takes, because its executor stopped, releases its lease.

#pragma once

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "holdfast/client.h"
#include "holdfast/lease.h"
#include "holdfast/options.h"

namespace holdfast {

using AcquireSignature = void(Result<Lease, AcquireError>);
using ReleaseSignature = void(ReleaseOutcome);

namespace detail {

/// A handler with its executor's work, on its way to be called once.
template <class Handler>
class Completion {
 public:
  explicit Completion(Handler handler)
      : handler_{std::move(handler)}, work_{boost::asio::get_associated_executor(handler_)} {}

  /// Calls the handler with `value` through its executor, on which everything here is destroyed.
  template <class Value>
  static void post(Completion completion, Value value) {
    // Until post() has returned: the handler's end may otherwise end the context under our feet.
    const auto work = completion.work_;
    const auto executor = work.get_executor();
    boost::asio::post(executor, [self = std::move(completion), value = std::move(value)]() mutable {
      auto slot = boost::asio::get_associated_cancellation_slot(self.handler_);
      if (slot.is_connected()) slot.clear();
      std::move(self.handler_)(std::move(value));
    });
  }

 private:
  using Executor = boost::asio::associated_executor_t<Handler>;

  Handler handler_;
  boost::asio::executor_work_guard<Executor> work_;
};

/// Starts an acquisition, now or whenever the completion token does. Owns what it needs: by then
/// the caller's views may be gone.
class AcquireInitiation {
 public:
  AcquireInitiation(Client client, std::string_view name, const AcquireOptions& options)
      : client_{std::move(client)},
        name_{name},
        label_{options.label},
        trace_id_{options.trace_id},
        options_{options} {}

  template <class Handler>
  void operator()(Handler&& handler) {
    using Pending = Completion<std::decay_t<Handler>>;
    std::stop_source stop;
    auto slot = boost::asio::get_associated_cancellation_slot(handler);
    if (slot.is_connected()) {
      slot.assign([stop](boost::asio::cancellation_type type) mutable {
        if (type != boost::asio::cancellation_type::none) stop.request_stop();
      });
    }
    // Engines copy their callbacks, and a handler cannot be copied.
    auto pending =
        std::make_shared<std::optional<Pending>>(std::in_place, std::forward<Handler>(handler));
    options_.label = label_;
    options_.trace_id = trace_id_;
    client_.async_acquire(
        name_, options_, stop.get_token(), [pending](Result<Lease, AcquireError> result) {
          Pending completion = std::move(**pending);
          pending->reset();
          Pending::post(std::move(completion), std::move(result));
        });
  }

 private:
  Client client_;
  std::string name_;
  std::string label_;
  std::string trace_id_;
  AcquireOptions options_;
};

class ReleaseInitiation {
 public:
  explicit ReleaseInitiation(Lease lease) : lease_{std::move(lease)} {}

  template <class Handler>
  void operator()(Handler&& handler) {
    using Pending = Completion<std::decay_t<Handler>>;
    // Engines copy their callbacks, and a handler cannot be copied.
    auto pending =
        std::make_shared<std::optional<Pending>>(std::in_place, std::forward<Handler>(handler));
    lease_.async_release([pending](ReleaseOutcome outcome) {
      Pending completion = std::move(**pending);
      pending->reset();
      Pending::post(std::move(completion), outcome);
    });
  }

 private:
  Lease lease_;
};

}  // namespace detail

/// Client::acquire for completion tokens: completes with Result<Lease, AcquireError>. Name, label
/// and trace id are copied before this returns.
template <class CompletionToken = boost::asio::use_awaitable_t<>>
auto async_acquire(Client client,
                   std::string_view name,
                   const AcquireOptions& options = {},
                   CompletionToken&& token = CompletionToken{}) {
  return boost::asio::async_initiate<CompletionToken, AcquireSignature>(
      detail::AcquireInitiation{std::move(client), name, options}, token);
}

/// Lease::release for completion tokens: completes with the ReleaseOutcome. Cannot be cancelled.
template <class CompletionToken = boost::asio::use_awaitable_t<>>
auto async_release(Lease lease, CompletionToken&& token = CompletionToken{}) {
  return boost::asio::async_initiate<CompletionToken, ReleaseSignature>(
      detail::ReleaseInitiation{std::move(lease)}, token);
}

}  // namespace holdfast
