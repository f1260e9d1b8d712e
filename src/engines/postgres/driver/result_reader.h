// What libpq's results say.

#pragma once

#include <string_view>

#include "engines/postgres/postgres_port.h"

struct pg_result;

namespace holdfast::postgres {

Rows rows_in(const pg_result* result);

/// Of an error of the server's; `server` goes into the message.
Refusal refusal_of(const pg_result* result, std::string_view server);

/// Whether the error ends the connection, so that nobody knows what became of the statement.
bool is_last_word(const pg_result* result);

/// Whether the backend does not know a prepared statement any more, or not in this form.
bool forgets_statement(const Answer& answer);

}  // namespace holdfast::postgres
