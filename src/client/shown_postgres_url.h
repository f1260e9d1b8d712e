// A PostgreSQL URL as it may be shown.

#pragma once

#include <string>

#include "engines/postgres/driver/postgres_url.h"

namespace holdfast {

/// Leads to the same engine, and has no passwords.
std::string shown_postgres_url(const postgres::PostgresUrl& url);

}  // namespace holdfast
