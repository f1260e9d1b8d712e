// Opens the engine behind a ZooKeeper URL.

#pragma once

#include <memory>
#include <string_view>

#include "core/backend.h"

namespace holdfast {

/// Connects, and learns what every client of this ensemble and prefix calls it.
/// invalid_argument: the URL. unavailable, unknown_outcome: no answer within its timeout. denied:
/// the ensemble does not let us in, or to the nodes below the prefix. not_found: the chroot is not
/// there. corrupt: whoever answers is not ZooKeeper.
Result<std::shared_ptr<Backend>> open_zookeeper(std::string_view url);

}  // namespace holdfast
