// install and uninstall of what a PostgreSQL database needs.

#include <gtest/gtest.h>

#include "tests/command/harness.h"
#include "tests/postgres/shared_server.h"

namespace holdfast::test {
namespace {

using postgres::shared_server;

class InstallCommandTest : public CommandTest {
 protected:
  std::string sql(const std::string& text) { return shared_server().psql(text, database_); }
  std::string schema() { return sql("SELECT coalesce(to_regnamespace('holdfast')::text, 'none')"); }

  std::string database_ = shared_server().create_database();
  std::string url_ = shared_server().url("postgres", database_);
};

TEST_F(InstallCommandTest, InstallMakesTheSchemaAndGrants) {
  const std::string role = "app_" + database_;
  sql("CREATE ROLE " + role);
  const auto made = run_json({"install", "postgres", url_, "--role", role});
  EXPECT_EQ(
      keys(made),
      (std::set<std::string>{"schema_version", "identity", "names_in", "roles", "operators"}));
  EXPECT_EQ(made.at("schema_version").as_int64(), 4);
  EXPECT_EQ(sql("SET ROLE " + role + "; SELECT holdfast_open('r', 1)"), "0");
  // Again, for nothing but the same.
  const auto again = run_json({"install", "postgres", url_});
  EXPECT_EQ(again.at("identity"), made.at("identity"));
  sql("DROP OWNED BY " + role + "; DROP ROLE " + role);
}

TEST_F(InstallCommandTest, ADryRunPrintsWhatPsqlCanRun) {
  const Finished dry = run({"install", "postgres", "--role", "postgres", "--dry-run"});
  ASSERT_EQ(dry.code, 0) << dry.err;
  EXPECT_EQ(schema(), "none");
  sql(dry.out);
  EXPECT_EQ(schema(), "holdfast");
  EXPECT_EQ(sql("SELECT holdfast_open('r', 1)"), "0");
}

TEST_F(InstallCommandTest, UninstallWantsToBeSure) {
  ASSERT_EQ(run({"install", "postgres", url_}).code, 0);
  const Finished unsure = run({"uninstall", "postgres", url_});
  EXPECT_EQ(unsure.code, 65);
  EXPECT_NE(unsure.err.find("--yes"), std::string::npos) << unsure.err;
  EXPECT_EQ(schema(), "holdfast");

  sql("SELECT * FROM holdfast.acquire('n', repeat('0', 32), 60000, '', 'x', 0, NULL, 'f')");
  EXPECT_EQ(run({"uninstall", "postgres", url_, "--yes"}).code, 75);
  EXPECT_EQ(schema(), "holdfast");
  EXPECT_TRUE(
      run_json({"uninstall", "postgres", url_, "--yes", "--force"}).at("removed").as_bool());
  EXPECT_EQ(schema(), "none");
  EXPECT_EQ(run({"uninstall", "postgres", url_, "--yes"}).code, 66);
}

TEST_F(InstallCommandTest, WhoMayNotIsDenied) {
  const std::string role = "nobody_" + database_;
  sql("CREATE ROLE " + role + " LOGIN");
  const Finished denied = run({"install", "postgres", shared_server().url(role, database_)});
  EXPECT_EQ(denied.code, 77);
  EXPECT_NE(denied.err.find("42501"), std::string::npos) << denied.err;
  EXPECT_EQ(schema(), "none");
  sql("DROP ROLE " + role);
}

TEST_F(InstallCommandTest, ARoleThatIsNotThereIsNamedAndNothingIsMade) {
  const Finished refused = run({"install", "postgres", url_, "--role", "no such role"});
  EXPECT_NE(refused.code, 0);
  EXPECT_NE(refused.err.find("no such role"), std::string::npos) << refused.err;
  EXPECT_EQ(schema(), "none");
}

TEST_F(InstallCommandTest, AnotherEngineHasNothingToInstall) {
  EXPECT_EQ(run({"install", "postgres"}).code, 65);
  EXPECT_EQ(run({"install", "redis"}).code, 64);
}

}  // namespace
}  // namespace holdfast::test
