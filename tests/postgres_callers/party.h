// A program of a user's that has a transaction open, with the library it likes.

#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <pqxx/pqxx>
#include <string>

#include "holdfast/postgres.h"
#include "holdfast/postgres_pqxx.h"
#include "tests/interop/foreign_client.h"
#include "tests/postgres_store/store_bed.h"

namespace holdfast::postgres {

/// Thread safety: none.
class Party {
 public:
  virtual ~Party() = default;
  virtual Transaction& begin() = 0;
  virtual void commit() = 0;
  virtual void rollback() = 0;
};

class LibpqParty final : public Party {
 public:
  explicit LibpqParty(const std::string& url) : sql_{url}, transaction_{sql_.raw()} {}
  Transaction& begin() override {
    sql_.script("BEGIN");
    return transaction_;
  }
  void commit() override { sql_.script("COMMIT"); }
  void rollback() override { sql_.script("ROLLBACK"); }

 private:
  SqlConnection sql_;
  LibpqTransaction transaction_;
};

class PqxxParty final : public Party {
 public:
  explicit PqxxParty(const std::string& url) : connection_{url} {}
  Transaction& begin() override {
    work_ = std::make_unique<pqxx::work>(connection_);
    transaction_ = std::make_unique<PqxxTransaction>(*work_);
    return *transaction_;
  }
  void commit() override { end(&pqxx::work::commit); }
  void rollback() override { end(&pqxx::work::abort); }

 private:
  template <class End>
  void end(End how) {
    (work_.get()->*how)();
    transaction_.reset();
    work_.reset();
  }

  pqxx::connection connection_;
  std::unique_ptr<pqxx::work> work_;
  std::unique_ptr<PqxxTransaction> transaction_;
};

/// `psql`, in a process of its own.
class Psql {
 public:
  explicit Psql(const std::string& url)
      : client_{{"/bin/sh", "-c", "echo ready; exec psql -X -q -At '" + url + '\''}} {}

  /// Of statements that answer one row in all.
  std::string ask(const std::string& sql) { return client_.ask(sql + ';'); }
  void begin() { EXPECT_EQ(ask("BEGIN; SELECT 1"), "1"); }
  void commit() { EXPECT_EQ(ask("COMMIT; SELECT 1"), "1"); }

 private:
  interop::ForeignClient client_;
};

enum class Library : std::uint8_t { libpq, libpqxx };

class CallersBed : public ::testing::TestWithParam<Library> {
 protected:
  CallersBed()
      : url_{shared_server().url("postgres", database())}, party_{make_party()}, psql_{url_} {}

  /// One for all tests of the program: they use names of their own.
  static const std::string& database() {
    static const std::string name = database_with_schema();
    return name;
  }

  std::unique_ptr<Party> make_party() const {
    if (GetParam() == Library::libpq) return std::make_unique<LibpqParty>(url_);
    return std::make_unique<PqxxParty>(url_);
  }

  std::string name() const {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    std::string full = test->name();
    std::replace(full.begin(), full.end(), '/', '_');
    return full;
  }

  std::string url_;
  std::unique_ptr<Party> party_;
  Psql psql_;
};

inline const auto kLibraries = ::testing::Values(Library::libpq, Library::libpqxx);

}  // namespace holdfast::postgres
