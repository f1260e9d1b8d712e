// Redis URLs, such as `rediss://app:secret@cache.example:6380/2?prefix=app:&ca=/etc/ca.pem` or
// `redis+cluster://a:7000,b:7000`.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engines/redis/driver/redis_target.h"
#include "holdfast/result.h"

namespace holdfast::redis {

/// What a URL says.
struct RedisUrl {
  enum class Kind : std::uint8_t { server, cluster, sentinel };

  Kind kind{Kind::server};
  /// The server; of a cluster, or behind sentinels, how to reach any: all but host and port.
  RedisTarget target;
  /// The first nodes of a cluster, or the sentinels.
  std::vector<Address> nodes{};
  /// What the sentinels call the server.
  std::string master_name{};
  /// As whom to ask the sentinels. Without both there is no authentication.
  std::string sentinel_user{};
  std::string sentinel_password{};
  /// Where passwords were read, if anywhere.
  std::string password_file{};
  std::string sentinel_password_file{};
  /// Put before every lock name.
  std::string prefix{"hf:"};
  /// Per operation; also how long connecting may take.
  Millis timeout{std::chrono::seconds{5}};
};

/// `redis://[user[:password]@]host[:port][/database]`, `rediss://…` for TLS, and
/// `redis+unix://[user[:password]@]/path?db=N`. What stands between the separators is
/// percent-encoded; an IPv6 address stands in brackets.
///
/// `redis+cluster://[user[:password]@]host[:port][,host[:port]…]` and
/// `redis+sentinel://[user[:password]@]host[:port][,…]/master-name`, and with `rediss+` for TLS.
///
/// Parameters: prefix, timeout, password_file; db for Unix sockets and sentinels; sentinel_user and
/// sentinel_password_file; ca, cert, key and servername for TLS. A password that is neither in the
/// URL nor in a file is taken from the environment, HOLDFAST_REDIS_PASSWORD.
///
/// invalid_argument: the URL is wrong, and the message says where. io_error: the password file
/// cannot be read. Messages never quote the parts that may hold credentials.
Result<RedisUrl> parse_redis_url(std::string_view url);

}  // namespace holdfast::redis
