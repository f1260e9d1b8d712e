// What the functions of the lease mode do about settings that would make them unsafe.

#include <gtest/gtest.h>

#include "tests/postgres_locks/lease_bed.h"

namespace holdfast::postgres {
namespace {

constexpr const char* kTake =
    "SELECT outcome FROM holdfast.acquire('x', 'me', 1000, '', 'x', 0, NULL, false)";

// They would look at what was there before they waited for their turn.
TEST(IsolationTest, OtherIsolationsAreRefused) {
  const std::string database = lease_database();
  for (const char* isolation : {"repeatable read", "serializable"}) {
    EXPECT_EQ(shared_server().psql(
                  "BEGIN ISOLATION LEVEL " + std::string{isolation} +
                      "; CREATE FUNCTION pg_temp.try() RETURNS text LANGUAGE plpgsql AS $$ BEGIN "
                      "PERFORM holdfast.acquire('x', 'me', 1000, '', 'x', 0, NULL, false); "
                      "RETURN 'done'; EXCEPTION WHEN invalid_transaction_state THEN "
                      "RETURN 'refused'; END $$; SELECT pg_temp.try()",
                  database),
              "refused");
  }
  EXPECT_EQ(shared_server().psql("SELECT count(*) FROM holdfast.holder", database), "0");
}

TEST(IsolationTest, TheDriverAsksForWhatTheyNeed) {
  const std::string database = lease_database();
  shared_server().psql("ALTER DATABASE " + database +
                       " SET default_transaction_isolation = 'serializable'");
  LeaseClient client{database};
  EXPECT_EQ(client.acquire("x", "me", 1000, "f"), "granted");
}

// A grant that a crash forgets would be given again.
TEST(IsolationTest, GrantsWaitForTheDisk) {
  const std::string database = lease_database();
  const auto left = [&](const std::string& setting) {
    return shared_server().psql("SET synchronous_commit = " + setting + "; " + kTake +
                                    "; SELECT current_setting('synchronous_commit')",
                                database);
  };
  EXPECT_EQ(left("off"), "on");
  EXPECT_EQ(left("local"), "local");
}

TEST(IsolationTest, NobodyMayCallAnythingUnasked) {
  const std::string database = lease_database();
  EXPECT_EQ(shared_server().psql(
                "SELECT count(*) FROM pg_proc WHERE pronamespace = 'holdfast'::regnamespace AND "
                "has_function_privilege('pg_monitor', oid, 'EXECUTE')",
                database),
            "0");
}

}  // namespace
}  // namespace holdfast::postgres
