// Opens the engine behind an etcd URL.

#pragma once

#include <memory>
#include <string_view>

#include "core/backend.h"

namespace holdfast {

/// Connects, and learns what every client of this cluster and prefix calls it.
/// invalid_argument: the URL. unavailable, unknown_outcome: no answer within its timeout. denied:
/// the cluster does not let us in, or to the keys below the prefix. no_space: its quota is used up.
/// corrupt: whoever answers is not etcd.
Result<std::shared_ptr<Backend>> open_etcd(std::string_view url);

}  // namespace holdfast
