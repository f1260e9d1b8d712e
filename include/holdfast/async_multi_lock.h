// Several locks at once, for Boost.Asio's coroutines.
//
//     const std::vector<std::string> names{"accounts/ann", "accounts/bob"};
//     auto lease = co_await holdfast::async_acquire_all(client, names, {.ttl = 10s});
//     if (!lease) co_return report(lease.error());
//     co_await transfer(*lease->token("accounts/ann"), *lease->token("accounts/bob"));
//     co_await holdfast::async_release(std::move(*lease));
//
// They run on the executor of the coroutine that awaits them, whose context must live until they
// have ended. A wait is cancelled by its stop_token.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <stop_token>
#include <string>
#include <vector>

#include "holdfast/multi_lock.h"

namespace holdfast {

/// acquire_all() for coroutines. Label and trace id are copied before this returns. unsupported:
/// detached leases that may have to be waited for, since nobody would renew the first of them
/// meanwhile.
boost::asio::awaitable<Result<MultiLease, AcquireError>> async_acquire_all(
    Client client,
    std::vector<std::string> names,
    const AcquireOptions& options = {},
    std::stop_token stop = {});

/// MultiLease::release() for coroutines.
boost::asio::awaitable<ReleaseOutcome> async_release(MultiLease lease);

}  // namespace holdfast
