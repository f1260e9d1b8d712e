// Tokens that were handed out before they were on disk do not come again after a crash.

#include <gtest/gtest.h>
#include <signal.h>

#include "holdfast/client.h"
#include "holdfast/postgres.h"
#include "tests/contract/patience.h"
#include "tests/postgres/postgres_server.h"
#include "tests/postgres_store/sql_connection.h"
#include "tests/servers/refusal.h"

namespace holdfast::postgres {
namespace {

using contract::eventually;
using servers::connected;

/// Commits are answered before they are on disk.
PostgresSettings hasty(std::vector<std::string> more = {}) {
  PostgresSettings settings{.lines = {"synchronous_commit=off"}};
  for (std::string& line : more) settings.lines.push_back(std::move(line));
  return settings;
}

/// What is in it now is there after a crash.
void make_schema(const PostgresServer& server) {
  connected(server.url());
  server.psql("CREATE TABLE job (id int); INSERT INTO job VALUES (1)");
  server.psql("CHECKPOINT");
}

/// A transaction of somebody who tells its tokens to others before it ends.
class OpenTransaction {
 public:
  explicit OpenTransaction(const PostgresServer& server)
      : sql_{server.url()}, transaction_{sql_.raw()} {
    EXPECT_FALSE(sql_.script("BEGIN"));
  }

  Token of_lock() {
    const auto token = lock_advisory_xact(transaction_, "x");
    EXPECT_TRUE(token) << token.error().message;
    return token ? *token : Token{0};
  }
  Token of_row() {
    const auto locked = lock_rows(transaction_, "SELECT id FROM job", {});
    EXPECT_TRUE(locked) << locked.error().message;
    return locked ? locked->token : Token{0};
  }
  /// As many as end in a part of the log that nobody writes before a commit.
  Token last_of_many() {
    Token last{0};
    for (int i = 0; i < 100; ++i) {
      EXPECT_GT(of_lock(), last);
      last = of_row();
    }
    return last;
  }

  SqlConnection& sql() { return sql_; }

 private:
  SqlConnection sql_;
  LibpqTransaction transaction_;
};

/// The server ends all of its sessions and recovers, but its first process lives on.
void crash_by_backend(const PostgresServer& server, OpenTransaction& victim) {
  SqlConnection bystander{server.url()};
  ASSERT_EQ(::kill(std::stoi(victim.sql().value("SELECT pg_backend_pid()")), SIGKILL), 0);
  ASSERT_TRUE(eventually([&] { return bystander.value("SELECT 1") != "1"; }));
  ASSERT_TRUE(eventually([&] { return PQping(server.url().c_str()) == PQPING_OK; }));
}

TEST(PostgresTokensTest, TokensOfAnOpenTransactionDoNotComeAgainAfterACrash) {
  PostgresServer server{hasty()};
  make_schema(server);
  Token last{0};
  for (int round = 0; round < 2; ++round) {
    OpenTransaction transaction{server};
    const Token first = transaction.of_lock();
    EXPECT_GT(first, last) << "crash " << round;
    last = transaction.last_of_many();
    server.kill();
    server.start();
  }
  EXPECT_GT(OpenTransaction{server}.of_row(), last);
}

TEST(PostgresTokensTest, TokensDoNotComeAgainAfterTheCrashOfABackend) {
  PostgresServer server{hasty()};
  make_schema(server);
  Token last{0};
  {
    OpenTransaction transaction{server};
    last = transaction.last_of_many();
    ASSERT_NO_FATAL_FAILURE(crash_by_backend(server, transaction));
  }
  EXPECT_GT(OpenTransaction{server}.of_lock(), last);
}

// What nobody brings to the disk for ten seconds.
TEST(PostgresTokensTest, TokensOfAdvisoryLocksDoNotComeAgainAfterACrash) {
  PostgresServer server{hasty({"wal_writer_delay=10s"})};
  make_schema(server);
  Token last{0};
  for (int round = 0; round < 2; ++round) {
    Client client = connected(server.url() + "?mode=advisory");
    const auto first = client.acquire("x");
    ASSERT_TRUE(first) << first.error().message;
    EXPECT_GT(first->token(), last) << "crash " << round;
    for (int i = 0; i < 100; ++i) last = client.acquire("y").value().token();
    server.kill();
    server.start();
  }
  EXPECT_GT(connected(server.url() + "?mode=advisory").acquire("y").value().token(), last);
}

// A number of the sequence is in the log before it is drawn, up to 32 of them in one record, and
// that may be the record of a transaction that has not committed.
TEST(PostgresTokensTest, ATokenInTheLogOfAnotherTransactionDoesNotComeAgainAfterACrash) {
  PostgresServer server{{.lines = {"wal_writer_delay=10s"}}};
  make_schema(server);
  Token last{0};
  {
    Client client = connected(server.url() + "?mode=advisory");
    ASSERT_TRUE(client.acquire("x"));
    SqlConnection other{server.url()};
    ASSERT_FALSE(other.script("BEGIN; SELECT holdfast.mint() FROM generate_series(1, 33)"));
    last = client.acquire("x").value().token();
    server.kill();
  }
  server.start();
  EXPECT_GT(connected(server.url() + "?mode=advisory").acquire("x").value().token(), last);
}

// Longer than what is reserved at once.
TEST(PostgresTokensTest, MoreIsReservedWhenItIsUsedUp) {
  PostgresServer server{hasty()};
  make_schema(server);
  const auto draw_many = [&] {
    server.psql("SELECT count(holdfast.mint()) FROM generate_series(1, 70000)");
  };
  Token last{0};
  {
    Client client = connected(server.url() + "?mode=advisory");
    ASSERT_TRUE(client.acquire("x"));
    draw_many();
    ASSERT_TRUE(client.acquire("x"));
    OpenTransaction transaction{server};
    last = transaction.of_lock();
    draw_many();
    EXPECT_GT(transaction.of_lock(), last);
    last = transaction.of_lock();
    server.kill();
  }
  server.start();
  EXPECT_GT(connected(server.url() + "?mode=advisory").acquire("x").value().token(), last);
}

}  // namespace
}  // namespace holdfast::postgres
