// Greeting: the first words to a server: who we are, and which database we mean.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engines/redis/driver/failure.h"
#include "engines/redis/redis_port.h"

namespace holdfast::redis {

class Greeting {
 public:
  enum class Step : std::uint8_t { authenticate, select_database, say_name };

  /// `target` outlives it.
  explicit Greeting(const RedisTarget& target);

  const std::string& bytes() const { return bytes_; }

  /// What the replies are to, in order. Never empty, so that whatever answers shows whether it is a
  /// Redis server.
  const std::vector<Step>& steps() const { return steps_; }

  /// denied: the credentials are wrong, missing or without the right. invalid_argument: there is no
  /// such database. unavailable: the server takes no more clients.
  Result<void, Failure> check(Step step, const Reply& reply) const;

 private:
  const RedisTarget& target_;
  std::string bytes_;
  std::vector<Step> steps_;
};

}  // namespace holdfast::redis
