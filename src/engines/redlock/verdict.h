// Why an attempt failed: what each node said, and what follows from all of it. Pure.

#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "engines/redis/redis_port.h"
#include "holdfast/client.h"

namespace holdfast::redlock {

/// What stands in the way at one node, if anything: why it did not answer as hoped, or the answer
/// that somebody else holds the lock there.
using Obstacle = std::variant<std::monostate, Error, redis::Reply>;

struct Refusal {
  enum class Cause : std::uint8_t {
    /// Somebody may hold the lock: wait until it is released.
    held,
    /// Nobody holds it: several wanted it at once, and each got a part. Try again, not together.
    contended,
    /// Too few nodes can be used.
    nodes,
  };
  Cause cause{Cause::nodes};
  /// With what each node said.
  AcquireError error;
  /// When held: in how long so many nodes have forgotten the holder that there may be a majority,
  /// unless it renews.
  Millis ends_in{0};
};

/// Why no majority came about. `names`: as messages name the nodes.
Refusal refusal_of(const std::vector<Obstacle>& obstacles, const std::vector<std::string>& names);

/// What a node's own refusal means; see redis::error_of(). unavailable: it is not of the set.
Error node_error(const redis::Reply& reply);

}  // namespace holdfast::redlock
