// One server for all tests of a program that leave it as it is.

#pragma once

#include "tests/postgres/postgres_server.h"

namespace holdfast::postgres {

/// Started when it is first asked for. Databases of one's own keep tests apart.
inline PostgresServer& shared_server() {
  static PostgresServer server;
  return server;
}

}  // namespace holdfast::postgres
