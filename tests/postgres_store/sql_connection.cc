#include "tests/postgres_store/sql_connection.h"

#include "base/assert.h"

namespace holdfast::postgres {
namespace {

using Answered = std::unique_ptr<PGresult, decltype(&PQclear)>;

std::string field(const PGresult* result, int code) {
  const char* text = PQresultErrorField(result, code);
  return text == nullptr ? std::string{} : std::string{text};
}

Answer to_answer(const PGresult* result) {
  const ExecStatusType status = PQresultStatus(result);
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
    return Refusal{.sqlstate = field(result, PG_DIAG_SQLSTATE),
                   .message = field(result, PG_DIAG_MESSAGE_PRIMARY),
                   .detail = field(result, PG_DIAG_MESSAGE_DETAIL)};
  }
  Rows rows;
  for (int i = 0; i < PQntuples(result); ++i) {
    Row& row = rows.emplace_back();
    for (int j = 0; j < PQnfields(result); ++j) {
      const bool is_null = PQgetisnull(result, i, j) != 0;
      row.push_back(is_null ? Value{} : Value{PQgetvalue(result, i, j)});
    }
  }
  return rows;
}

}  // namespace

SqlConnection::SqlConnection(const std::string& url)
    : connection_{PQconnectdb(url.c_str()), &PQfinish} {
  HOLDFAST_ASSERT(PQstatus(connection_.get()) == CONNECTION_OK);
  PQsetNoticeProcessor(
      connection_.get(), [](void*, const char*) {}, nullptr);
}

Answer SqlConnection::run(const std::string& sql, const std::vector<Value>& params) {
  std::vector<const char*> texts;
  for (const Value& param : params) texts.push_back(param ? param->c_str() : nullptr);
  const Answered result{PQexecParams(connection_.get(),
                                     sql.c_str(),
                                     static_cast<int>(texts.size()),
                                     nullptr,
                                     texts.data(),
                                     nullptr,
                                     nullptr,
                                     0),
                        &PQclear};
  return to_answer(result.get());
}

std::optional<Refusal> SqlConnection::script(const std::string& sql) {
  const Answered result{PQexec(connection_.get(), sql.c_str()), &PQclear};
  Answer answer = to_answer(result.get());
  if (auto* refusal = std::get_if<Refusal>(&answer)) return *refusal;
  return std::nullopt;
}

std::string SqlConnection::value(const std::string& sql, const std::vector<Value>& params) {
  const Answer answer = run(sql, params);
  if (const auto* refusal = std::get_if<Refusal>(&answer)) {
    return refusal->sqlstate + ' ' + refusal->message;
  }
  const Rows& rows = std::get<Rows>(answer);
  if (rows.empty() || rows[0].empty()) return "nothing";
  return rows[0][0].value_or("NULL");
}

}  // namespace holdfast::postgres
