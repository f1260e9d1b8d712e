// PqxxTransaction: holdfast/postgres.h in a transaction of libpqxx.
//
//   pqxx::work work{connection};
//   holdfast::postgres::PqxxTransaction transaction{work};

#pragma once

#include <pqxx/pqxx>
#include <string>
#include <vector>

#include "holdfast/postgres.h"

namespace holdfast::postgres {

/// Lifetime: the transaction of libpqxx outlives it, and is committed or aborted there.
class PqxxTransaction final : public Transaction {
 public:
  explicit PqxxTransaction(pqxx::transaction_base& transaction) : transaction_{transaction} {}

  Result<Rows, SqlError> run(const std::string& sql, const std::vector<Value>& params) override {
    std::vector<const char*> texts;
    for (const Value& param : params) texts.push_back(param ? param->c_str() : nullptr);
    try {
      const pqxx::result result =
          transaction_.exec_params(sql, pqxx::prepare::make_dynamic_params(texts));
      Rows rows;
      for (const auto& found : result) {
        Row& row = rows.emplace_back();
        for (const auto& field : found) {
          row.push_back(field.is_null() ? Value{} : Value{field.c_str()});
        }
      }
      return rows;
    } catch (const pqxx::broken_connection& error) {
      return Unexpected{SqlError{Errc::unknown_outcome, error.what()}};
    } catch (const pqxx::sql_error& error) {
      SqlError refused{Errc::internal, error.what()};
      refused.sqlstate = error.sqlstate();
      return Unexpected{refused};
    } catch (const std::exception& error) {
      return Unexpected{SqlError{Errc::invalid_argument, error.what()}};
    }
  }

 private:
  pqxx::transaction_base& transaction_;
};

}  // namespace holdfast::postgres
