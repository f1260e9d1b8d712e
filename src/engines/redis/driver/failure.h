// Failure: why there is no connection to a server, and whether waiting may help.

#pragma once

#include <boost/system/error_code.hpp>
#include <cstdint>
#include <string>

#include "engines/redis/driver/redis_target.h"
#include "holdfast/result.h"

namespace holdfast::redis {

struct Failure {
  enum class Cause : std::uint8_t {
    /// The server is away; it may come back by itself.
    passing,
    /// Somebody must change something: credentials, certificates, the address.
    lasting,
  };

  Error error;
  Cause cause{Cause::passing};
};

/// An error whose message names the server.
Error error_at(const RedisTarget& target, Errc code, const std::string& what);

/// unavailable, by what the system said.
Failure passing_failure(const RedisTarget& target, const boost::system::error_code& said);
Failure passing_failure(const RedisTarget& target, const std::string& what);

/// Why a request was not answered, as the driver told.
Failure failure_of(const Error& error);

}  // namespace holdfast::redis
