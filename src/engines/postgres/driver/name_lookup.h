// Names of hosts become addresses before libpq sees them: it would block on looking them up.

#pragma once

#include <vector>

#include "base/task.h"
#include "engines/postgres/driver/conninfo.h"
#include "engines/postgres/driver/failure.h"
#include "runtime/asio_env.h"

namespace holdfast::postgres {

struct FoundHosts {
  /// A host for each address of each.
  std::vector<Host> hosts{};
  /// Of those that were not found.
  std::vector<Failure> failures{};
};

/// `hosts` outlives the await.
Task<FoundHosts> look_up(runtime::AsioEnv& env, const std::vector<Host>& hosts);

}  // namespace holdfast::postgres
