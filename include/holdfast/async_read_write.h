// Readers that become writers and writers that become readers, for Boost.Asio's coroutines.
//
// They run on the executor of the coroutine that awaits them, whose context must live until they
// have ended, as must the lock and the reader. A wait is cancelled by its stop_token.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <stop_token>

#include "holdfast/read_write.h"

namespace holdfast {

boost::asio::awaitable<Result<ReadLease, AcquireError>> async_read(const ReadWriteLock& lock,
                                                                   Millis wait = kForever,
                                                                   std::stop_token stop = {});
boost::asio::awaitable<Result<WriteLease, AcquireError>> async_write(const ReadWriteLock& lock,
                                                                     Millis wait = kForever,
                                                                     std::stop_token stop = {});
boost::asio::awaitable<Result<WriteLease, AcquireError>> async_upgrade(const ReadWriteLock& lock,
                                                                       ReadLease& reader,
                                                                       Millis wait = kForever,
                                                                       std::stop_token stop = {});
boost::asio::awaitable<Result<ReadLease, AcquireError>> async_downgrade(const ReadWriteLock& lock,
                                                                        WriteLease writer,
                                                                        Millis wait = kForever,
                                                                        std::stop_token stop = {});

}  // namespace holdfast
