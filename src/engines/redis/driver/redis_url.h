// Redis URLs, such as `rediss://app:secret@cache.example:6380/2?prefix=app:&ca=/etc/ca.pem`.

#pragma once

#include <string>
#include <string_view>

#include "engines/redis/driver/redis_target.h"
#include "holdfast/result.h"

namespace holdfast::redis {

/// What a URL says.
struct RedisUrl {
  RedisTarget target;
  /// Put before every lock name.
  std::string prefix{"hf:"};
  /// Per operation; also how long connecting may take.
  Millis timeout{std::chrono::seconds{5}};
};

/// `redis://[user[:password]@]host[:port][/database]`, `rediss://…` for TLS, and
/// `redis+unix://[user[:password]@]/path?db=N`. What stands between the separators is
/// percent-encoded; an IPv6 address stands in brackets.
///
/// Parameters: prefix, timeout, password_file; db for Unix sockets; ca, cert, key and servername
/// for TLS. A password that is neither in the URL nor in a file is taken from the environment,
/// HOLDFAST_REDIS_PASSWORD.
///
/// invalid_argument: the URL is wrong, and the message says where. io_error: the password file
/// cannot be read. Messages never quote the parts that may hold credentials.
Result<RedisUrl> parse_redis_url(std::string_view url);

}  // namespace holdfast::redis
