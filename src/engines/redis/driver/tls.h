// TLS towards a Redis server: whom to trust, what to show, and why a handshake failed.

#pragma once

#include <boost/asio/ssl/context.hpp>
#include <boost/system/error_code.hpp>
#include <memory>
#include <optional>

#include "engines/redis/driver/failure.h"

namespace holdfast::redis {

using TlsContext = boost::asio::ssl::context;

/// Reads the files of the settings. Empty when the target does not use TLS.
/// invalid_argument: a file cannot be used; the message names it.
Result<std::shared_ptr<TlsContext>> make_tls_context(const RedisTarget& target);

/// Tells a fresh session whose certificate to expect.
/// invalid_argument: the name is none.
Result<void> expect_server(SSL* session, const RedisTarget& target);

/// What an error of a session means. denied and lasting: one side does not accept the other's
/// certificate, and the message says why. Otherwise unavailable.
Failure tls_failure(SSL* session, const RedisTarget& target, const boost::system::error_code& said);

}  // namespace holdfast::redis
