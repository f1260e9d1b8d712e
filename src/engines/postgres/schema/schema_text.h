// The text of the schema, composed of its parts.

#pragma once

#include <cstdint>
#include <string>

#include "engines/postgres/postgres_port.h"

namespace holdfast::postgres {

/// Makes the newest version where there is nothing.
std::string creation_sql();

/// Makes, of version `from`, the next one. Empty: there is no such step.
std::string step_sql(std::int32_t from);

/// One statement that makes the schema unless it is there.
const Statement& creation_statement();

/// One command that makes the schema unless it is there, takes an older version up to the newest
/// step by step, and does `uses` then: commands of PL/pgSQL. Leaves a newer version alone.
std::string installation_sql(const std::string& uses);

/// One statement that removes everything. The first refuses while leases stand, with HF005.
const Statement& removal_statement();
const Statement& forced_removal_statement();

}  // namespace holdfast::postgres
