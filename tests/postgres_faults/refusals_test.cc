// What goes wrong with a server, as a program sees it: the error names the server and the cause, in
// time, and nothing is half-made.

#include <gtest/gtest.h>

#include <future>

#include "core/backend.h"
#include "holdfast/client.h"
#include "holdfast/store.h"
#include "tests/contract/patience.h"
#include "tests/postgres/pgbouncer.h"
#include "tests/postgres/shared_server.h"
#include "tests/redis/fake_server.h"
#include "tests/servers/refusal.h"

namespace holdfast::postgres {
namespace {

using namespace std::chrono_literals;

using servers::connected;
using servers::expect_error;

/// Connecting fails, within the timeout of the URL and what a busy machine adds.
Error refusal(const std::string& url) {
  const TimePoint begin = BootClock::now();
  const auto client =
      Client::connect(url + (url.find('?') == std::string::npos ? "?" : "&") + "timeout=2s");
  EXPECT_LT(BootClock::now() - begin, 4 * 2s);
  return client ? Error{Errc::internal, "connected"} : client.error();
}

/// How many schemas of ours the database has.
std::string schemas(const PostgresServer& server, const std::string& database = "postgres") {
  return server.psql("SELECT count(*) FROM pg_namespace WHERE nspname = 'holdfast'", database);
}

const std::string& endpoint() {
  static const std::string there = shared_server().endpoint();
  return there;
}

TEST(PostgresRefusalsTest, NoRightToMakeTheSchema) {
  const std::string database = shared_server().create_database();
  shared_server().psql("CREATE ROLE newcomer LOGIN");
  const Error error = refusal(shared_server().url("newcomer", database));
  expect_error(error, Errc::denied, endpoint(), "42501");
  EXPECT_NE(error.remedy().find("holdfast install postgres"), std::string::npos) << error.remedy();
  EXPECT_EQ(schemas(shared_server(), database), "0");
}

TEST(PostgresRefusalsTest, NoRightToUseTheSchema) {
  const std::string database = shared_server().create_database();
  connected(shared_server().url("postgres", database));
  shared_server().psql("CREATE ROLE stranger LOGIN");
  const Error error = refusal(shared_server().url("stranger", database));
  expect_error(error, Errc::denied, endpoint(), "42501");
}

TEST(PostgresRefusalsTest, ASchemaOfAnotherVersion) {
  const std::string database = shared_server().create_database();
  connected(shared_server().url("postgres", database));
  shared_server().psql("UPDATE holdfast.version SET version = 999", database);
  const Error error = refusal(shared_server().url("postgres", database));
  EXPECT_EQ(error.code, Errc::unsupported) << error.message;
  EXPECT_NE(error.message.find("999"), std::string::npos) << error.message;
}

TEST(PostgresRefusalsTest, AStandbyThatIsReadOnly) {
  PostgresServer primary;
  connected(primary.url());
  PostgresServer standby = PostgresServer::replica_of(primary);
  for (const char* mode : {"lease", "advisory"}) {
    const std::string url = standby.url() + "?mode=" + mode;
    auto client = Client::connect(url + "&timeout=2s");
    ASSERT_TRUE(client) << client.error().message;
    AcquireError error{Errc::internal};
    // Tried until the time is up: the last attempt may end with that.
    EXPECT_TRUE(contract::eventually([&] {
      error = client->try_acquire("x").error();
      return error.message.find("25006") != std::string::npos;
    }));
    expect_error(error, Errc::unavailable, standby.endpoint(), "read-only");
  }
}

TEST(PostgresRefusalsTest, AStandbyWithoutTheSchemaIsLeftAsItIs) {
  PostgresServer primary;
  PostgresServer standby = PostgresServer::replica_of(primary);
  const Error error = refusal(standby.url());
  expect_error(error, Errc::unavailable, standby.endpoint(), "25006");
  EXPECT_EQ(schemas(primary), "0");
}

TEST(PostgresRefusalsTest, ADatabaseThatIsNotThere) {
  const Error error = refusal(shared_server().url("postgres", "no_such"));
  expect_error(error, Errc::invalid_argument, endpoint(), "no_such");
  EXPECT_NE(error.message.find("3D000"), std::string::npos) << error.message;
}

TEST(PostgresRefusalsTest, AWrongPassword) {
  PostgresServer guarded{{.hba = {"host all all 127.0.0.1/32 scram-sha-256"}}};
  guarded.psql("CREATE ROLE app LOGIN PASSWORD 'secret'");
  const std::string there = guarded.endpoint();
  const Error guessed = refusal("postgres://app:guessed@" + there + "/postgres");
  expect_error(guessed, Errc::denied, there, "password authentication failed");
  EXPECT_EQ(guessed.message.find("guessed"), std::string::npos) << guessed.message;
}

TEST(PostgresRefusalsTest, NamesThatAreTooLong) {
  for (const char* mode : {"lease", "advisory"}) {
    Client client = connected(shared_server().url() + "?mode=" + mode);
    const auto refused = client.try_acquire(std::string(513, 'x'));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::invalid_argument);
    EXPECT_TRUE(client.try_acquire(std::string(512, 'x')));
  }
}

TEST(PostgresRefusalsTest, APoolerUnderAdvisoryLocks) {
  PgBouncer pooler{shared_server()};
  const Error error = refusal(pooler.url() + "?mode=advisory");
  EXPECT_EQ(error.code, Errc::unsupported) << error.message;
  EXPECT_NE(error.message.find("pooler"), std::string::npos) << error.message;
  EXPECT_NE(error.remedy().find("mode=lease"), std::string::npos) << error.remedy();
  Client past = connected(pooler.url() + "?mode=advisory&listen=" + shared_server().url());
  EXPECT_TRUE(past.try_acquire("x"));
  Client lease = connected(pooler.url());
  EXPECT_TRUE(lease.try_acquire("x"));
}

// Nobody can be called there: who waits asks, and keeps its place all the same.
TEST(PostgresRefusalsTest, BehindAPoolerAloneWhoWaitsIsServedInOrder) {
  PgBouncer pooler{shared_server()};
  Client client = connected(pooler.url());
  auto lease = client.acquire("deaf");
  ASSERT_TRUE(lease) << lease.error().message;
  const auto waiters = [&] { return client.inspect("deaf")->waiters.size(); };
  const auto take_turn = [&] {
    return connected(pooler.url()).acquire("deaf", {.ttl = 3s})->token();
  };
  auto first = std::async(std::launch::async, take_turn);
  ASSERT_TRUE(contract::eventually([&] { return waiters() == 1; }));
  auto second = std::async(std::launch::async, take_turn);
  ASSERT_TRUE(contract::eventually([&] { return waiters() == 2; }));
  EXPECT_EQ(lease->release(), ReleaseOutcome::released);
  const Token token_of_first = first.get();
  EXPECT_GT(token_of_first, lease->token());
  EXPECT_GT(second.get(), token_of_first);
}

TEST(PostgresRefusalsTest, BehindAPoolerAloneWhoObservesIsToldWhyItHearsNothing) {
  PgBouncer pooler{shared_server()};
  const auto deaf = connected(pooler.url()).backend()->why_unheard();
  ASSERT_TRUE(deaf);
  EXPECT_NE(deaf->message.find("pooler"), std::string::npos) << deaf->message;
  EXPECT_NE(deaf->remedy().find("listen="), std::string::npos) << deaf->remedy();
  const std::string past = pooler.url() + "?listen=" + shared_server().url();
  EXPECT_FALSE(connected(past).backend()->why_unheard());
  EXPECT_FALSE(connected(past + "&mode=advisory").backend()->why_unheard());
  EXPECT_FALSE(connected(shared_server().url()).backend()->why_unheard());
}

TEST(PostgresRefusalsTest, APoolerOfSessionsIsTakenAtItsWord) {
  PgBouncer pooler{shared_server(), {.pool_mode = "session"}};
  Client client = connected(pooler.url() + "?mode=advisory&pooler=session");
  auto lease = client.try_acquire("pooled");
  ASSERT_TRUE(lease) << lease.error().message;
  EXPECT_EQ(connected(shared_server().url() + "?mode=advisory").try_acquire("pooled").error().code,
            Errc::busy);
}

TEST(PostgresRefusalsTest, ModesOfTheCallersOwnTransaction) {
  for (const char* mode : {"advisory_xact", "row"}) {
    const Error error = refusal(shared_server().url() + "?mode=" + mode);
    EXPECT_EQ(error.code, Errc::unsupported) << error.message;
    EXPECT_NE(error.remedy().find("holdfast/postgres.h"), std::string::npos) << error.remedy();
  }
}

TEST(PostgresRefusalsTest, NoPostgresServer) {
  redis::FakeServer server{"-ERR unknown command\r\n", "-ERR unknown command\r\n"};
  const std::string there = "127.0.0.1:" + std::to_string(server.port());
  const Error error = refusal("postgres://" + there + "/postgres");
  EXPECT_TRUE(error.code == Errc::corrupt || error.code == Errc::unavailable) << error.message;
  EXPECT_NE(error.message.find(there), std::string::npos) << error.message;
}

TEST(PostgresRefusalsTest, NobodyThere) {
  const std::string there = "127.0.0.1:" + std::to_string(free_port());
  expect_error(refusal("postgres://" + there + "/postgres"), Errc::unavailable, there, "");
}

}  // namespace
}  // namespace holdfast::postgres
