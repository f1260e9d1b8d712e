// Stores for Boost.Asio programs: with coroutines, futures, callbacks or any completion token.
//
//     auto ledger = co_await holdfast::async_open(store, "ledger", lease);
//     auto balance = co_await holdfast::async_read(*ledger);
//     co_await holdfast::async_write(*ledger, withdraw(**balance, 80));
//
// Contracts as in store.h. Completion: through the handler's associated executor, never inside the
// call itself. Views are copied before a call returns. Operations cannot be cancelled; a coroutine
// of async_update or async_once ends at its next step when its coroutine is cancelled.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "holdfast/async.h"
#include "holdfast/store.h"

namespace holdfast {
namespace detail {

/// Starts an operation with a callback that completes the handler.
template <class Value, class Start>
class StoreInitiation {
 public:
  explicit StoreInitiation(Start start) : start_{std::move(start)} {}

  template <class Handler>
  void operator()(Handler&& handler) {
    using Pending = Completion<std::decay_t<Handler>>;
    // Engines copy their callbacks, and a handler cannot be copied.
    auto pending =
        std::make_shared<std::optional<Pending>>(std::in_place, std::forward<Handler>(handler));
    start_([pending](Value value) {
      Pending completion = std::move(**pending);
      pending->reset();
      Pending::post(std::move(completion), std::move(value));
    });
  }

 private:
  Start start_;
};

template <class Value, class Start, class CompletionToken>
auto initiate_store(Start start, CompletionToken&& token) {
  return boost::asio::async_initiate<CompletionToken, void(Value)>(
      StoreInitiation<Value, Start>{std::move(start)}, token);
}

}  // namespace detail

/// Store::open: completes with Result<Resource, StoreError>.
template <class CompletionToken = boost::asio::use_awaitable_t<>>
auto async_open(Store store,
                std::string_view resource,
                const Sequencer& holder,
                const OpenOptions& options = {},
                CompletionToken&& token = CompletionToken{}) {
  auto start = [store = std::move(store), resource = std::string{resource}, holder, options](
                   Store::OpenCallback callback) mutable {
    store.async_open(resource, holder, options, std::move(callback));
  };
  return detail::initiate_store<Result<Resource, StoreError>>(std::move(start), token);
}

template <class CompletionToken = boost::asio::use_awaitable_t<>>
auto async_open(Store store,
                std::string_view resource,
                const Lease& lease,
                const OpenOptions& options = {},
                CompletionToken&& token = CompletionToken{}) {
  return async_open(std::move(store),
                    resource,
                    parse_sequencer(lease.sequencer()).value(),
                    options,
                    std::forward<CompletionToken>(token));
}

/// Resource::read: completes with Result<optional<Entry>, StoreError>. The resource outlives it.
template <class CompletionToken = boost::asio::use_awaitable_t<>>
auto async_read(Resource& resource, CompletionToken&& token = CompletionToken{}) {
  auto start = [&resource](Resource::ReadCallback callback) {
    resource.async_read(std::move(callback));
  };
  return detail::initiate_store<Result<std::optional<Entry>, StoreError>>(std::move(start), token);
}

/// Resource::write: completes with Result<WriteReceipt, StoreError>. The resource outlives it.
template <class CompletionToken = boost::asio::use_awaitable_t<>>
auto async_write(Resource& resource,
                 std::string_view value,
                 CompletionToken&& token = CompletionToken{}) {
  auto start = [&resource, value = std::string{value}](Resource::WriteCallback callback) {
    resource.async_write(value, std::move(callback));
  };
  return detail::initiate_store<Result<WriteReceipt, StoreError>>(std::move(start), token);
}

/// Resource::erase: completes with Result<WriteReceipt, StoreError>. The resource outlives it.
template <class CompletionToken = boost::asio::use_awaitable_t<>>
auto async_erase(Resource& resource, CompletionToken&& token = CompletionToken{}) {
  auto start = [&resource](Resource::WriteCallback callback) {
    resource.async_erase(std::move(callback));
  };
  return detail::initiate_store<Result<WriteReceipt, StoreError>>(std::move(start), token);
}

/// Store::check: completes with Result<void, StoreError>.
template <class CompletionToken = boost::asio::use_awaitable_t<>>
auto async_check(Store store,
                 std::string_view resource,
                 const Sequencer& holder,
                 CompletionToken&& token = CompletionToken{}) {
  auto start = [store = std::move(store), resource = std::string{resource}, holder](
                   Store::CheckCallback callback) mutable {
    store.async_check(resource, holder, std::move(callback));
  };
  return detail::initiate_store<Result<void, StoreError>>(std::move(start), token);
}

/// Store::get: completes with Result<optional<Entry>, StoreError>.
template <class CompletionToken = boost::asio::use_awaitable_t<>>
auto async_get(Store store, std::string_view key, CompletionToken&& token = CompletionToken{}) {
  auto start = [store = std::move(store),
                key = std::string{key}](Store::GetCallback callback) mutable {
    store.async_get(key, std::move(callback));
  };
  return detail::initiate_store<Result<std::optional<Entry>, StoreError>>(std::move(start), token);
}

/// Store::put: completes with Result<Version, StoreError>.
template <class CompletionToken = boost::asio::use_awaitable_t<>>
auto async_put(Store store,
               std::string_view key,
               std::string_view value,
               const PutOptions& options = {},
               CompletionToken&& token = CompletionToken{}) {
  auto start = [store = std::move(store),
                key = std::string{key},
                value = std::string{value},
                options](Store::PutCallback callback) mutable {
    store.async_put(key, value, options, std::move(callback));
  };
  return detail::initiate_store<Result<Version, StoreError>>(std::move(start), token);
}

/// Store::erase: completes with Result<bool, StoreError>.
template <class CompletionToken = boost::asio::use_awaitable_t<>>
auto async_erase(Store store,
                 std::string_view key,
                 const EraseOptions& options = {},
                 CompletionToken&& token = CompletionToken{}) {
  auto start = [store = std::move(store), key = std::string{key}, options](
                   Store::EraseCallback callback) mutable {
    store.async_erase(key, options, std::move(callback));
  };
  return detail::initiate_store<Result<bool, StoreError>>(std::move(start), token);
}

/// Store::update as a coroutine.
boost::asio::awaitable<Result<UpdateReport, StoreError>> async_update(Store store,
                                                                      std::string key,
                                                                      Store::Compute compute,
                                                                      UpdateOptions options = {});

/// What async_once runs: a coroutine that is given the runner's lease, which outlives it.
using AsyncRunner = std::function<boost::asio::awaitable<OnceResult>(const Lease&)>;

/// Store::once as a coroutine.
boost::asio::awaitable<Result<OnceReport, StoreError>> async_once(Store store,
                                                                  std::string key,
                                                                  AsyncRunner run,
                                                                  OnceOptions options = {});

}  // namespace holdfast
