#include <libpq-fe.h>

#include <memory>

#include "holdfast/postgres.h"

namespace holdfast::postgres {
namespace {

using Answered = std::unique_ptr<PGresult, decltype(&PQclear)>;

std::string field(const PGresult* result, int code) {
  const char* text = PQresultErrorField(result, code);
  return text == nullptr ? std::string{} : std::string{text};
}

SqlError to_error(pg_conn* connection, const PGresult* result) {
  if (PQstatus(connection) != CONNECTION_OK) {
    return {Errc::unknown_outcome,
            "the connection is gone: " + field(result, PG_DIAG_MESSAGE_PRIMARY)};
  }
  SqlError error{Errc::internal, field(result, PG_DIAG_MESSAGE_PRIMARY)};
  error.sqlstate = field(result, PG_DIAG_SQLSTATE);
  error.detail = field(result, PG_DIAG_MESSAGE_DETAIL);
  return error;
}

Rows to_rows(const PGresult* result) {
  Rows rows(static_cast<std::size_t>(PQntuples(result)));
  for (int i = 0; i < PQntuples(result); ++i) {
    Row& row = rows[static_cast<std::size_t>(i)];
    for (int j = 0; j < PQnfields(result); ++j) {
      const auto length = static_cast<std::size_t>(PQgetlength(result, i, j));
      row.push_back(PQgetisnull(result, i, j) != 0
                        ? Value{}
                        : Value{std::string{PQgetvalue(result, i, j), length}});
    }
  }
  return rows;
}

}  // namespace

Result<Rows, SqlError> LibpqTransaction::run(const std::string& sql,
                                             const std::vector<Value>& params) {
  if (PQtransactionStatus(connection_) == PQTRANS_UNKNOWN) {
    return Unexpected{SqlError{Errc::unknown_outcome, "the connection is gone"}};
  }
  if (PQtransactionStatus(connection_) == PQTRANS_IDLE) {
    return Unexpected{
        SqlError{Errc::invalid_argument, "the connection has no open transaction", "BEGIN first"}};
  }
  std::vector<const char*> texts;
  for (const Value& param : params) texts.push_back(param ? param->c_str() : nullptr);
  const Answered result{PQexecParams(connection_,
                                     sql.c_str(),
                                     static_cast<int>(texts.size()),
                                     nullptr,
                                     texts.data(),
                                     nullptr,
                                     nullptr,
                                     0),
                        &PQclear};
  const ExecStatusType status = PQresultStatus(result.get());
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
    return Unexpected{to_error(connection_, result.get())};
  }
  return to_rows(result.get());
}

}  // namespace holdfast::postgres
