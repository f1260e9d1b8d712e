// Asks a PostgreSQL server for what a doctor wants to know.

#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "base/env.h"
#include "engines/postgres/doctor/server_facts.h"
#include "engines/postgres/postgres_port.h"
#include "holdfast/result.h"

namespace holdfast::postgres {

struct Examination {
  Usage usage{Usage::lease};
  /// How messages name the server.
  std::string server;
  /// This machine's clock; empty: it is not compared.
  std::function<std::chrono::system_clock::time_point()> wall_clock{};
};

/// Changes nothing. Errors as PostgresPort::send(), and what the server refuses as error_of(): it
/// could not be asked at all.
Task<Result<ServerFacts>> examine(Env& env,
                                  PostgresPort& port,
                                  Examination examination,
                                  TimePoint answer_by);

}  // namespace holdfast::postgres
