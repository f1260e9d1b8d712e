// A semaphore between processes, for Boost.Asio programs: as holdfast/async.h has it for locks.

#pragma once

#include <utility>

#include "holdfast/async.h"
#include "holdfast/semaphore.h"

namespace holdfast {

/// Semaphore::acquire for completion tokens: completes with Result<Lease, AcquireError>. The
/// semaphore is not needed any more when this returns.
template <class CompletionToken = boost::asio::use_awaitable_t<>>
auto async_acquire(Semaphore& semaphore,
                   Millis wait = kForever,
                   CompletionToken&& token = CompletionToken{}) {
  return async_acquire(semaphore.client(),
                       semaphore.name(),
                       semaphore.request(wait),
                       std::forward<CompletionToken>(token));
}

}  // namespace holdfast
