// Names of servers become addresses before the C client sees them: it would block on looking them
// up.

#pragma once

#include <string>
#include <vector>

#include "base/task.h"
#include "core/server_url.h"
#include "holdfast/result.h"
#include "runtime/asio_env.h"

namespace holdfast::zookeeper {

/// As the C client writes servers, if all are addresses already. Otherwise empty.
std::string servers_by_address(const std::vector<core::Endpoint>& endpoints);

/// The same, with names looked up; those that are not found are left out. unavailable: none is.
/// `endpoints` outlives the await.
Task<Result<std::string>> look_up_servers(runtime::AsioEnv& env,
                                          const std::vector<core::Endpoint>& endpoints);

}  // namespace holdfast::zookeeper
