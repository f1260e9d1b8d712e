// What no ZooKeeper server takes, whatever its state.

#pragma once

#include <optional>
#include <string>

#include "engines/zookeeper/zookeeper_messages.h"

namespace holdfast::sim {

/// invalid_argument: it has no valid path, or is too large. Empty: a server takes it.
std::optional<Error> refusal_of(const zookeeper::Request& request);

/// Of the node that is watched. Empty: none is.
std::string watched_path(const zookeeper::Request& request);

}  // namespace holdfast::sim
