// What the nodes together show of a lock. Pure.

#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/ids.h"
#include "engines/redis/redis_port.h"
#include "holdfast/inspect.h"

namespace holdfast::redlock {

/// What one node shows of a lock: one item of what kInspectScript answers.
struct Sight {
  /// Of the lock's key; empty when nobody has it there.
  std::string value{};
  Millis left{0};
  /// The counter of the name, as text.
  std::string counter{};
  /// By owner.
  std::map<std::string, Contender> waiters{};
};

Sight read_sight(const redis::Reply& item);

/// The lock as it is, from what some of `nodes` nodes showed. Who has it on a majority holds it; so
/// does who may, counting nodes that showed nothing. The token is what most of its nodes have come
/// to: a majority has confirmed it.
LockInfo merge_sights(const LockName& name, const std::vector<Sight>& sights, std::size_t nodes);

}  // namespace holdfast::redlock
