// Redlock URLs, such as `redlock://app:secret@a.example,b.example,c.example:6380/2?prefix=app:`.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engines/redis/driver/redis_target.h"
#include "holdfast/result.h"

namespace holdfast {

/// What a URL says.
struct RedlockUrl {
  /// Three or more, each another one.
  std::vector<redis::RedisTarget> nodes;
  /// Put before every lock name.
  std::string prefix;
  /// Per operation; also how long connecting may take.
  Millis timeout;

  /// As messages name the nodes.
  std::vector<std::string> names() const;
  /// Complete and without credentials.
  std::string shown() const;
};

bool is_redlock_url(std::string_view url);

/// `redlock://[user[:password]@]host[:port],host[:port],…[/database]`, `redlocks://…` for TLS, and
/// `redlock+unix://[user[:password]@]/path,/path,…?db=N`. Credentials, database and parameters are
/// those of every node; the parameters are those of Redis URLs.
///
/// invalid_argument: the URL is wrong, and the message says where. io_error: the password file
/// cannot be read. Messages never quote the parts that may hold credentials.
Result<RedlockUrl> parse_redlock_url(std::string_view url);

}  // namespace holdfast
