// Asks a Redis server for what a doctor wants to know.

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engines/redis/doctor/node_facts.h"
#include "engines/redis/driver/redis_driver.h"
#include "engines/redis/driver/redis_url.h"
#include "holdfast/result.h"
#include "runtime/asio_env.h"

namespace holdfast::redis {

/// Blocks until all is read; writes a few keys of its own under the prefix for that, and removes
/// them. What the user may not ask stays empty.
///
/// Errors as RedisDriver::send(): the server could not be asked at all. Precondition: not within a
/// task of the Env.
Result<NodeFacts> examine(runtime::AsioEnv& env,
                          const std::shared_ptr<RedisDriver>& driver,
                          const RedisUrl& url);

/// The text at a key; empty where there is none. Failures and precondition as examine().
Result<std::optional<std::string>> text_at(runtime::AsioEnv& env,
                                           const std::shared_ptr<RedisDriver>& driver,
                                           const std::string& key,
                                           Millis timeout);

/// Where a sentinel says that the server of that name is; empty where it knows none. Failures and
/// precondition as examine().
Result<std::optional<Address>> master_told_by(runtime::AsioEnv& env,
                                              const std::shared_ptr<RedisDriver>& sentinel,
                                              const std::string& name,
                                              Millis timeout);

}  // namespace holdfast::redis
