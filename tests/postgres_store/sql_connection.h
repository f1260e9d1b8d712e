// SqlConnection: libpq as the simplest program uses it.

#pragma once

#include <libpq-fe.h>

#include <memory>
#include <string>
#include <vector>

#include "engines/postgres/postgres_port.h"

namespace holdfast::postgres {

/// Thread safety: none. Aborts the test program when it cannot connect.
class SqlConnection {
 public:
  explicit SqlConnection(const std::string& url);

  Answer run(const std::string& sql, const std::vector<Value>& params = {});
  Answer run(const Call& call) { return run(std::string{call.statement->sql}, call.args); }
  /// Several statements, without parameters. The first refusal, or none.
  std::optional<Refusal> script(const std::string& sql);
  /// The one value of the one row; a refusal as `SQLSTATE message`.
  std::string value(const std::string& sql, const std::vector<Value>& params = {});

  PGconn* raw() { return connection_.get(); }

 private:
  std::unique_ptr<PGconn, decltype(&PQfinish)> connection_;
};

}  // namespace holdfast::postgres
