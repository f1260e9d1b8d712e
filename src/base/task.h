// Task<T>: an asynchronous operation, as a coroutine that starts when it is awaited or spawned.
//
// Parameters of a Task are taken by value, or by reference where the contract says whose they are
// and that they outlive the await. Name arguments before you await: g++ 12 destroys aggregate and
// capturing-lambda temporaries of an awaiting expression twice.

#pragma once

#include <boost/asio/awaitable.hpp>

namespace holdfast {

template <class T>
using Task = boost::asio::awaitable<T>;

}  // namespace holdfast
