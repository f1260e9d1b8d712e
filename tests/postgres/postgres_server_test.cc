// The servers that other tests stand on do what they are told.

#include "tests/postgres/postgres_server.h"

#include <gtest/gtest.h>

#include "tests/postgres/pgbouncer.h"

namespace holdfast::postgres {
namespace {

TEST(PostgresServer, StandsAsAskedAndKeepsItsDataThroughEveryEnd) {
  PostgresServer server{{.lines = {"max_connections=17"}}};
  EXPECT_EQ(server.psql("SHOW max_connections"), "17");
  EXPECT_EQ(server.psql("SHOW fsync"), "off");
  const std::string database = server.create_database();
  server.psql("CREATE TABLE t AS SELECT 1 AS a, 2 AS b", database);
  server.restart();
  server.kill();
  server.start();
  server.pause();
  server.resume();
  server.pause();
  server.kill();
  server.start();
  EXPECT_EQ(server.psql("TABLE t; SELECT a, b FROM t UNION SELECT 3, NULL ORDER BY 1", database),
            "1|2\n3|");
}

TEST(PostgresServer, AReplicaFollowsAndIsPromoted) {
  PostgresServer primary;
  PostgresServer replica = PostgresServer::replica_of(primary);
  EXPECT_EQ(replica.psql("SELECT pg_is_in_recovery()"), "t");
  primary.psql("CREATE TABLE t AS SELECT 7 AS a");
  primary.wait_for_replica();
  EXPECT_EQ(replica.psql("TABLE t"), "7");
  primary.kill();
  replica.promote();
  EXPECT_EQ(replica.psql("SELECT substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)"), "00000002");
}

TEST(PgBouncer, StandsBeforeAServer) {
  PostgresServer server;
  PgBouncer pooler{server};
  pooler.pause();
  pooler.resume();
  pooler.kill();
  pooler.start();
  EXPECT_NE(pooler.port(), server.port());
}

}  // namespace
}  // namespace holdfast::postgres
