// The ground of the tests of the PostgreSQL store: a database with the schema, and a client that
// calls its functions as the store does.

#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "engines/postgres/schema/schema.h"
#include "engines/postgres/store/store_answer.h"
#include "engines/postgres/store/store_call.h"
#include "tests/postgres/shared_server.h"
#include "tests/postgres_store/sql_connection.h"

namespace holdfast::postgres {

inline constexpr const char* kPrefix = "hf/";

/// A new database with the schema in it; made as an administrator makes it.
inline std::string database_with_schema() {
  const std::string database = shared_server().create_database();
  SqlConnection administrator{shared_server().url("postgres", database)};
  const auto refusal = administrator.script(installation_script({}));
  EXPECT_FALSE(refusal) << refusal->message;
  return database;
}

class StoreBed : public ::testing::Test {
 protected:
  StoreBed() : database_{database_with_schema()}, sql_{url()} {}

  std::string url() const { return shared_server().url("postgres", database_); }

  /// One attempt, as the store makes it.
  core::StoreAnswer ask(const StoreRequest& request,
                        std::uint64_t id,
                        core::Attempt attempt = core::Attempt::first) {
    const StoreTicket ticket{.id = id, .timeout = Millis{5000}, .who = "the tests"};
    const Result<Answer> answer{sql_.run(to_call(request, kPrefix, ticket, attempt))};
    auto read = read_store_answer(request, answer);
    if (read) return *std::move(read);
    return {Unexpected{StoreError{std::move(read).error()}}, core::Earlier::open};
  }

  StoreResult perform(const StoreRequest& request) { return ask(request, ++next_id_).result; }

  static core::Holder holder(std::uint64_t token) {
    return {.domain = "postgres:somewhere#x",
            .mode = holdfast::Mode::exclusive,
            .token = Token{token},
            .owner_fp = "owner-" + std::to_string(token)};
  }
  static StoreRequest open(std::uint64_t token) {
    return {.key = "k", .operation = OpenResource{.holder = holder(token)}};
  }
  static StoreRequest write(std::uint64_t token, std::uint64_t sequence, std::string value) {
    return {.key = "k",
            .operation = WriteResource{
                .holder = holder(token), .sequence = sequence, .value = std::move(value)}};
  }
  static StoreRequest put(std::string value, std::optional<Version> if_version = {}) {
    return {.key = "k", .operation = PutKey{.value = std::move(value), .if_version = if_version}};
  }
  static StoreRequest erase() { return {.key = "k", .operation = EraseKey{}}; }
  static StoreRequest get() { return {.key = "k", .operation = GetKey{}}; }

  std::string database_;
  SqlConnection sql_;
  std::uint64_t next_id_{0};
};

}  // namespace holdfast::postgres
