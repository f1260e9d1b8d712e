// Opens the engine behind a PostgreSQL URL.

#pragma once

#include <memory>
#include <string_view>

#include "core/backend.h"

namespace holdfast {

/// Connects, makes the schema unless it is there, and learns what every client of this database
/// calls it.
/// invalid_argument: the URL, or there is no such database. unsupported: a mode that lives in the
/// caller's own transaction, a pooler under advisory locks, or a schema of another version.
/// unavailable, unknown_outcome: no answer within its timeout. denied: the server does not let us
/// in, or to the schema. corrupt: whoever answers is not PostgreSQL.
Result<std::shared_ptr<Backend>> open_postgres(std::string_view url);

}  // namespace holdfast
