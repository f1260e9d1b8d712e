#include "engines/postgres/driver/result_reader.h"

#include <libpq-fe.h>

namespace holdfast::postgres {
namespace {

std::string field(const PGresult* result, int code) {
  const char* const text = PQresultErrorField(result, code);
  return text == nullptr ? std::string{} : std::string{text};
}

Value value_at(const PGresult* result, int row, int column) {
  if (PQgetisnull(result, row, column) == 1) return std::nullopt;
  return std::string(PQgetvalue(result, row, column),
                     static_cast<std::size_t>(PQgetlength(result, row, column)));
}

}  // namespace

Rows rows_in(const pg_result* result) {
  const int columns = PQnfields(result);
  Rows rows(static_cast<std::size_t>(PQntuples(result)));
  int number = 0;
  for (Row& row : rows) {
    row.reserve(static_cast<std::size_t>(columns));
    for (int column = 0; column < columns; ++column) {
      row.push_back(value_at(result, number, column));
    }
    ++number;
  }
  return rows;
}

Refusal refusal_of(const pg_result* result, std::string_view server) {
  return {.sqlstate = field(result, PG_DIAG_SQLSTATE),
          .message = field(result, PG_DIAG_MESSAGE_PRIMARY) + " (at " + std::string{server} + ')',
          .detail = field(result, PG_DIAG_MESSAGE_DETAIL)};
}

bool is_last_word(const pg_result* result) {
  const std::string severity = field(result, PG_DIAG_SEVERITY_NONLOCALIZED);
  // What libpq says by itself, of a connection it lost, has no severity.
  return severity != "ERROR";
}

bool forgets_statement(const Answer& answer) {
  const Refusal* const refusal = std::get_if<Refusal>(&answer);
  return refusal != nullptr && (refusal->sqlstate == "26000" || refusal->sqlstate == "0A000");
}

}  // namespace holdfast::postgres
