// Opens the engine behind a Redis URL: one server, a cluster, or one that sentinels name.

#pragma once

#include <memory>
#include <string_view>

#include "core/backend.h"

namespace holdfast {

bool is_redis_url(std::string_view url);

/// Connects, and learns who the server is.
/// invalid_argument: the URL. unavailable, unknown_outcome: no answer within its timeout. denied:
/// the server does not let us in, or do what locks need. corrupt: foreign data under the prefix.
Result<std::shared_ptr<Backend>> open_redis(std::string_view url);

}  // namespace holdfast
