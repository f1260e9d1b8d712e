// A database with the schema of the lease mode, and clients of its functions.

#pragma once

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/decimal.h"
#include "engines/postgres/array_text.h"
#include "engines/postgres/lease_statements.h"
#include "engines/postgres/schema/base_sql.h"
#include "engines/postgres/schema/lease_sql.h"
#include "tests/postgres/driver_bed.h"
#include "tests/postgres/shared_server.h"

namespace holdfast::postgres {

/// A new database of the program's server.
inline std::string lease_database() {
  PostgresServer& server = shared_server();
  const std::string name = server.create_database();
  server.psql(std::string{sql::kBase} + std::string{sql::kLease}, name);
  return name;
}

/// A client of its own, on its own connections. Thread safety: none.
class LeaseClient {
 public:
  explicit LeaseClient(const std::string& database)
      : bed_{shared_server().url("postgres", database)} {}

  /// The first column of every row, after `!` the SQLSTATE of a refusal. What was not answered is
  /// asked again: everything here may be.
  std::vector<std::string> ask(const Statement& statement, std::vector<Value> args) {
    for (;;) {
      const auto answer = bed_.ask(share({.statement = &statement, .args = args}));
      if (!answer) continue;
      if (const auto* refusal = std::get_if<Refusal>(&*answer)) {
        // A backend that was ended by force has undone what it did.
        if (refusal->sqlstate == "57P01") continue;
        return {"!" + refusal->sqlstate};
      }
      std::vector<std::string> firsts;
      last_.clear();
      for (const Row& row : std::get<Rows>(*answer)) {
        firsts.push_back(row.at(0).value_or("-"));
        last_.push_back(row);
      }
      return firsts;
    }
  }
  /// What was answered last.
  const Rows& rows() const { return last_; }

  std::string acquire(const std::string& name,
                      const std::string& owner,
                      int ttl_ms,
                      const char* waits,
                      const char* claim = "x") {
    return ask(kAcquireStatement,
               {name, owner, std::to_string(ttl_ms), "note", claim, "0", std::nullopt, waits})
        .at(0);
  }
  /// Of the last acquire that was granted.
  std::int64_t token() const { return parse_decimal<std::int64_t>(*last_.at(0).at(1)).value(); }

  std::string release(const std::string& name, const std::string& owner) {
    return ask(kReleaseStatement, {name, owner, std::nullopt}).at(0);
  }

  std::vector<std::string> renew(const std::vector<Value>& names,
                                 const std::vector<Value>& owners,
                                 const std::vector<Value>& tokens,
                                 int ttl_ms) {
    return ask(kRenewStatement,
               {array_text(names),
                array_text(owners),
                array_text(tokens),
                std::to_string(ttl_ms),
                std::nullopt});
  }

 private:
  DriverBed bed_;
  Rows last_;
};

/// Runs `work(client, number)` in several threads, each with a client of its own.
template <class Work>
void crowd(int size, const std::string& database, Work work) {
  std::vector<std::jthread> threads;
  for (int number = 0; number < size; ++number) {
    threads.emplace_back([&database, &work, number] {
      LeaseClient client{database};
      work(client, number);
    });
  }
}

}  // namespace holdfast::postgres
