// The statements of the lease mode as a model PostgreSQL answers them: text in, text out.

#pragma once

#include <cstdint>
#include <optional>

#include "engines/postgres/postgres_port.h"
#include "sim/postgres/lease_functions.h"

namespace holdfast::sim {

/// Runs a statement of lease_statements.h (but for kAttendStatement) or of plain_statements.h. In
/// the server's words, refuses all others, and what is not of their types.
postgres::Answer answer_of(const postgres::Call& call, LeaseFunctions& functions);

/// A bigint. Empty: it is none, or NULL.
std::optional<std::int64_t> number_of(const postgres::Value& value);
/// What the server says of a bigint that is none.
postgres::Refusal bad_number(const postgres::Value& value);

}  // namespace holdfast::sim
