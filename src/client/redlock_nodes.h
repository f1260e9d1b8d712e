// The nodes of a Redlock URL, each behind a driver of its own.

#pragma once

#include <memory>
#include <utility>

#include "client/redlock_url.h"
#include "engines/redis/driver/redis_driver.h"
#include "engines/redlock/node_poll.h"
#include "runtime/asio_env.h"

namespace holdfast {

/// Ports of the Env: they go before it does.
struct OpenNodes {
  std::unique_ptr<runtime::AsioEnv> env;
  redlock::Nodes nodes;
};

/// Connects to nothing yet. invalid_argument: a file of TLS cannot be used, or a path is too long.
/// io_error: the system has no thread left.
inline Result<OpenNodes> open_nodes(const RedlockUrl& url) {
  auto env = runtime::AsioEnv::create();
  if (!env) return Unexpected{std::move(env).error()};
  OpenNodes opened{.env = *std::move(env), .nodes = {}};
  for (const redis::RedisTarget& target : url.nodes) {
    auto driver = redis::RedisDriver::create(*opened.env, target);
    if (!driver) return Unexpected{std::move(driver).error()};
    opened.nodes.push_back(*std::move(driver));
  }
  return opened;
}

}  // namespace holdfast
