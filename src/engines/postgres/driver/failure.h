// Failure: why there is no connection to a server, and whether waiting may help.
//
// Thread safety: any thread.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/result.h"

namespace holdfast::postgres {

struct Failure {
  enum class Cause : std::uint8_t {
    /// The server is away; it may come back by itself.
    passing,
    /// Somebody must change something: credentials, certificates, the address.
    lasting,
  };

  Error error;
  Cause cause{Cause::passing};
};

/// An error whose message names the server.
Error error_at(std::string_view server, Errc code, std::string_view what);

/// Of what libpq says, with all it knows (PQERRORS_VERBOSE), when it could not connect or lost the
/// connection.
///
/// denied: the server does not accept the credentials, or one side the other's certificate.
/// invalid_argument: the server has no such database. corrupt: it is not PostgreSQL. unavailable:
/// everything else.
Failure failure_of(std::string_view server, std::string_view said);

/// Whoever answers is not PostgreSQL.
Failure stranger(std::string_view server);

/// Whether a server of PostgreSQL may begin like this.
bool begins_as_postgres(char first);

/// Of all hosts that were tried. The code is theirs if they agree; unavailable otherwise. The cause
/// lasts if it does for all. Precondition: not empty.
Failure all_of(const std::vector<Failure>& failures);

}  // namespace holdfast::postgres
