// A connection over hiredis, for tests. It blocks its thread while it waits.

#pragma once

#include <hiredis/hiredis.h>

#include <memory>
#include <string>
#include <vector>

#include "engines/redis/redis_port.h"

namespace holdfast::ports {

/// One connection, made anew when it broke. Thread safety: none.
class ServerConnection {
 public:
  explicit ServerConnection(std::string socket) : socket_{std::move(socket)} {}

  /// unavailable: no connection. unknown_outcome: sent, and no answer.
  Result<redis::Reply> command(const std::vector<std::string>& words);
  Result<redis::Reply> eval(const redis::ScriptCall& call);
  /// The next message of a connection that has subscribed.
  Result<redis::Reply> next();

 private:
  struct Free {
    void operator()(redisContext* context) const { redisFree(context); }
    void operator()(redisReply* reply) const { freeReplyObject(reply); }
  };

  Result<redis::Reply> received(void* reply);

  std::string socket_;
  std::unique_ptr<redisContext, Free> context_;
};

}  // namespace holdfast::ports
