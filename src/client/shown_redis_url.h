// A Redis URL to show and to pass on: complete, and without passwords.

#pragma once

#include <string>

#include "engines/redis/driver/redis_url.h"

namespace holdfast {

/// Opens the same engine, if the password comes from its file or the environment.
std::string shown_redis_url(const redis::RedisUrl& url);

}  // namespace holdfast
