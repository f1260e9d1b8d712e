// ServerWatch: looks at the server now and then, so that the end of a lease can be explained.
//
// Thread safety: as Env. Lifetime: the Env outlives it; requests under way keep it alive.

#pragma once

#include <memory>
#include <optional>

#include "base/env.h"
#include "engines/redis/server_signs.h"

namespace holdfast::redis {

class ServerWatch : public std::enable_shared_from_this<ServerWatch> {
 public:
  ServerWatch(Env& env, std::shared_ptr<RedisPort> port) : env_{env}, port_{std::move(port)} {}

  /// Looks without waiting for what it sees, unless the last look was a short time ago.
  void glance();

  /// Why leases of that TTL may be gone that stood until a moment ago. Fate::gone when the server
  /// does not say enough about itself. Ends by `answer_by` or soon after.
  Task<core::Fate> explain(Millis ttl, TimePoint answer_by);

 private:
  enum class Seen : std::uint8_t { nothing, first, again };
  Seen take_in(const Result<Reply>& reply, TimePoint sent_at);

  Env& env_;
  std::shared_ptr<RedisPort> port_;
  TimePoint asked_at_{TimePoint::min()};
  std::optional<ServerSigns> latest_;
  std::optional<ServerChange> change_;
  /// When the look left that saw it.
  TimePoint changed_at_{};
};

}  // namespace holdfast::redis
