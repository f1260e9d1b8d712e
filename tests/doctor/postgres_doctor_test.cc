#include <gtest/gtest.h>

#include "holdfast/client.h"
#include "tests/doctor/ids.h"
#include "tests/postgres/pgbouncer.h"
#include "tests/postgres/postgres_server.h"

namespace holdfast {
namespace {

using postgres::PgBouncer;
using postgres::PostgresServer;
using postgres::PostgresSettings;
using Ids = std::set<std::string>;

/// As an administrator should leave it.
PostgresSettings careful(std::vector<std::string> lines = {}) {
  PostgresSettings settings{.durability = PostgresSettings::Durability::full};
  settings.lines = {"idle_in_transaction_session_timeout=5min"};
  for (std::string& line : lines) settings.lines.push_back(std::move(line));
  return settings;
}

/// Without what depends on the machine's speed, and what all of these tests have.
Ids found(const std::string& url) {
  Ids all = ids(diagnose(url));
  for (const char* id : {"slow", "superuser"}) all.erase(id);
  return all;
}

TEST(PostgresDoctorTest, ACarefulServerIsFoundToBeSo) {
  const PostgresServer server{careful()};
  EXPECT_EQ(found(server.url()), Ids{});
  EXPECT_EQ(found(server.url() + "?mode=advisory"), Ids{});
  const auto diagnosis = diagnose(server.url());
  ASSERT_TRUE(diagnosis) << diagnosis.error().message;
  EXPECT_NE(diagnosis->engine.find(server.endpoint()), std::string::npos);
  // It looked, and made nothing.
  EXPECT_EQ(server.psql("SELECT to_regnamespace('holdfast')"), "");
}

TEST(PostgresDoctorTest, CarelessSettingsAreFound) {
  const PostgresServer server{
      careful({"fsync=off", "full_page_writes=off", "synchronous_commit=off", "autovacuum=off"})};
  EXPECT_EQ(found(server.url()),
            (Ids{"no_fsync", "no_full_page_writes", "synchronous_commit", "no_autovacuum"}));
  EXPECT_FALSE(core::is_safe(diagnose(server.url())->findings));
  const PostgresServer open_ended{{.durability = PostgresSettings::Durability::full}};
  EXPECT_EQ(found(open_ended.url()), Ids{"no_idle_in_transaction_timeout"});
}

TEST(PostgresDoctorTest, AFailoverThatForgetsIsFound) {
  PostgresServer primary{careful()};
  const PostgresServer replica = PostgresServer::replica_of(primary, careful());
  EXPECT_EQ(found(primary.url()), Ids{"failover_window"});
  EXPECT_EQ(found(primary.url() + "?mode=advisory"), Ids{"failover_loses_locks"});
  EXPECT_EQ(found(replica.url()), Ids{"replica"});
}

TEST(PostgresDoctorTest, RightsAndVersionsAreFound) {
  const PostgresServer server{careful()};
  server.psql("CREATE ROLE app LOGIN");
  EXPECT_EQ(found(server.url("app")), Ids{"no_schema"});
  ASSERT_TRUE(Client::connect(server.url()));
  EXPECT_EQ(found(server.url("app")), Ids{"denied"});
  server.psql("SELECT holdfast.grant_to('app', 'application')");
  EXPECT_EQ(found(server.url("app")), Ids{});
  server.psql("UPDATE holdfast.version SET version = 7");
  EXPECT_EQ(found(server.url("app")), Ids{"schema_version"});
}

// A direct connection asks for the isolation it needs; behind a pooler the role has to.
TEST(PostgresDoctorTest, SettingsOfTheRoleAreFound) {
  const PostgresServer server{careful()};
  server.psql("ALTER ROLE postgres SET statement_timeout = '500ms'");
  server.psql("ALTER ROLE postgres SET lock_timeout = '100ms'");
  server.psql("ALTER ROLE postgres SET default_transaction_isolation = 'repeatable read'");
  EXPECT_EQ(found(server.url()), (Ids{"short_statement_timeout", "short_lock_timeout"}));
  const PgBouncer pooler{server};
  EXPECT_EQ(found(pooler.url()),
            (Ids{"short_statement_timeout", "short_lock_timeout", "isolation", "no_listen"}));
}

TEST(PostgresDoctorTest, APoolerIsFound) {
  const PostgresServer server{careful()};
  const PgBouncer pooler{server};
  EXPECT_EQ(found(pooler.url()), Ids{"no_listen"});
  EXPECT_EQ(found(pooler.url() + "?mode=advisory"), Ids{"pooler"});
}

}  // namespace
}  // namespace holdfast
