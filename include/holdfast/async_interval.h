// A job that runs at most once per interval, for Boost.Asio's coroutines.
//
// They run on the executor of the coroutine that awaits them, whose context must live until they
// have ended. A wait is cancelled by its stop_token.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <stop_token>
#include <string>
#include <vector>

#include "holdfast/interval.h"

namespace holdfast {

/// at_most_every() for coroutines. Label and trace id are copied before this returns.
boost::asio::awaitable<Result<IntervalRun, IntervalError>> async_at_most_every(
    Millis interval,
    Client client,
    std::vector<std::string> names,
    const IntervalOptions& options = {},
    std::stop_token stop = {});

}  // namespace holdfast
