// Server: what all connections to one target share.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engines/postgres/driver/postgres_target.h"
#include "engines/postgres/postgres_port.h"
#include "runtime/asio_env.h"

namespace holdfast::postgres {

/// Thread safety: none; it belongs to the Env's thread once it is made.
struct Server {
  runtime::AsioEnv& env;
  PostgresDriverSettings settings;
  Pooling pooling;
  Duration connect_timeout;
  /// For libpq, without those that name hosts.
  Parameters parameters;
  /// Not empty.
  std::vector<Host> hosts;
  /// Which of the hosts is tried first: the one that was reached last.
  std::size_t first_host{0};
  /// Whether connections lead to a backend of their own.
  PostgresPort::Direct direct{PostgresPort::Direct::unknown};
  /// Attempts to connect that failed since one succeeded, and when the next may begin.
  std::uint32_t failures{0};
  TimePoint not_before{};
  /// For tests and measurements.
  std::uint64_t connections{0};
  std::uint64_t statements{0};

  /// All hosts, as messages name them.
  std::string text() const;

  /// invalid_argument: the parameters are wrong.
  static Result<std::shared_ptr<Server>> create(runtime::AsioEnv& env,
                                                const PostgresTarget& target,
                                                const Parameters& parameters,
                                                const PostgresDriverSettings& settings);
};

}  // namespace holdfast::postgres
