// The schema is made at first use, once, and only by who may.

#include "engines/postgres/schema/schema.h"

#include <gtest/gtest.h>

#include <future>

#include "engines/postgres/driver/postgres_driver.h"
#include "engines/postgres/driver/postgres_url.h"
#include "tests/postgres/shared_server.h"
#include "tests/postgres_store/sql_connection.h"

namespace holdfast::postgres {
namespace {

/// What version 3 added is taken away.
constexpr auto kBackToVersion2 =
    "DROP FUNCTION holdfast.take, holdfast.forget_limits; DROP TABLE holdfast.limits; "
    "UPDATE holdfast.version SET version = 2";
/// What versions 2 and 3 added is taken away.
constexpr auto kBackToVersion1 =
    "DROP FUNCTION holdfast.take, holdfast.forget_limits; DROP TABLE holdfast.limits; "
    "DROP FUNCTION holdfast.mint_ahead, holdfast.wait_for_log, holdfast.reserve_tokens, "
    "holdfast.reserve; DROP TABLE holdfast.reserved; UPDATE holdfast.version SET version = 1";

template <class T>
using Answered = std::shared_ptr<std::promise<Result<T>>>;

template <class T>
Task<void> tell(Task<Result<T>> task, Answered<T> answer) {
  Task<Result<T>> running = std::move(task);
  auto result = co_await std::move(running);
  answer->set_value(std::move(result));
}

/// A program that uses a database.
class Program {
 public:
  explicit Program(const std::string& url)
      : env_{std::move(runtime::AsioEnv::create().value())},
        driver_{*PostgresDriver::create(*env_, parse_postgres_url(url)->target)} {}

  template <class T>
  std::future<Result<T>> begin(Task<Result<T>> task) {
    const auto answer = std::make_shared<std::promise<Result<T>>>();
    env_->spawn(tell(std::move(task), answer));
    return answer->get_future();
  }

  std::future<Result<SchemaFacts>> ensure() { return begin(ensure_schema(*driver_, by())); }
  Result<SchemaFacts> install(Installation installation = {}) {
    return begin(install_schema(*driver_, std::move(installation), by())).get();
  }
  Result<void> uninstall(Standing standing) {
    return begin(uninstall_schema(*driver_, standing, by())).get();
  }

 private:
  TimePoint by() const { return env_->now() + std::chrono::seconds{30}; }

  std::unique_ptr<runtime::AsioEnv> env_;
  std::shared_ptr<PostgresDriver> driver_;
};

class SchemaTest : public ::testing::Test {
 protected:
  SchemaTest() : database_{shared_server().create_database()}, sql_{url()} {}

  std::string url(const std::string& role = "postgres") const {
    return shared_server().url(role, database_);
  }
  /// Of its own database; goes with the test.
  std::string make_role() {
    const std::string role = "role_" + database_;
    sql_.script("CREATE ROLE " + role + " LOGIN");
    return role;
  }

  std::string database_;
  SqlConnection sql_;
};

TEST_F(SchemaTest, FirstUseMakesItAndTheNextFindsIt) {
  Program first{url()};
  const auto made = first.ensure().get();
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->version, kSchemaVersion);
  const auto found = Program{url()}.ensure().get();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->identity, made->identity);
}

TEST_F(SchemaTest, ManyFirstUsersMakeItOnce) {
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<std::future<Result<SchemaFacts>>> answers;
  for (int i = 0; i < 6; ++i) programs.push_back(std::make_unique<Program>(url()));
  for (const auto& program : programs) answers.push_back(program->ensure());
  std::set<std::string> identities;
  for (auto& answer : answers) {
    const auto facts = answer.get();
    ASSERT_TRUE(facts) << facts.error().message;
    identities.insert(facts->identity);
  }
  EXPECT_EQ(identities.size(), 1U);
}

TEST_F(SchemaTest, AnotherVersionIsNamedWithBothNumbers) {
  ASSERT_TRUE(Program{url()}.ensure().get());
  sql_.script("UPDATE holdfast.version SET version = 7");
  const auto refused = Program{url()}.ensure().get();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::unsupported);
  EXPECT_EQ(refused.error().message,
            "the schema holdfast is of version 7, and this program needs version " +
                std::to_string(kSchemaVersion));
  EXPECT_EQ(Program{url()}.install().error().code, Errc::unsupported);
}

TEST_F(SchemaTest, AnOlderVersionIsBroughtUpToDateForWhoMayUseIt) {
  const std::string role = make_role();
  Program owner{url()};
  const auto made = owner.install({.roles = {role}});
  ASSERT_TRUE(made);
  sql_.script(kBackToVersion2);
  EXPECT_EQ(Program{url()}.ensure().get().error().code, Errc::unsupported);
  const auto upgraded = owner.install();
  ASSERT_TRUE(upgraded) << upgraded.error().message;
  EXPECT_EQ(upgraded->version, kSchemaVersion);
  EXPECT_EQ(upgraded->identity, made->identity);
  SqlConnection user{url(role)};
  EXPECT_EQ(user.value("SELECT granted FROM holdfast.take('k', 10, 10, 0)"), "t");
  EXPECT_EQ(sql_.value("SELECT has_function_privilege('public', "
                       "'holdfast.take(text, bigint, bigint, bigint)', 'EXECUTE')"),
            "f");
  sql_.script("DROP OWNED BY " + role + "; DROP ROLE " + role);
}

TEST_F(SchemaTest, WhoMayNotMakeItLearnsWhoCan) {
  const std::string role = make_role();
  const auto denied = Program{url(role)}.ensure().get();
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().code, Errc::denied);
  EXPECT_NE(denied.error().message.find("42501"), std::string::npos) << denied.error().message;
  EXPECT_NE(denied.error().remedy().find("holdfast install postgres"), std::string_view::npos);
  EXPECT_EQ(sql_.value("SELECT to_regnamespace('holdfast')"), "NULL");

  Program owner{url()};
  ASSERT_TRUE(owner.install());
  EXPECT_EQ(Program{url(role)}.ensure().get().error().code, Errc::denied);
  ASSERT_TRUE(owner.install({.roles = {role}}));
  EXPECT_TRUE(Program{url(role)}.ensure().get());
  sql_.script("DROP OWNED BY " + role + "; DROP ROLE " + role);
}

TEST_F(SchemaTest, ARoleThatMayCreateMakesItsOwn) {
  const std::string role = make_role();
  sql_.script("GRANT CREATE ON DATABASE " + database_ + " TO " + role);
  EXPECT_TRUE(Program{url(role)}.ensure().get());
  sql_.script("DROP OWNED BY " + role + " CASCADE; DROP ROLE " + role);
}

TEST_F(SchemaTest, AReadOnlyServerIsUnavailableAndLeavesNothing) {
  sql_.script("ALTER DATABASE " + database_ + " SET default_transaction_read_only = on");
  const auto refused = Program{url()}.ensure().get();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::unavailable);
  EXPECT_NE(refused.error().message.find("25006"), std::string::npos) << refused.error().message;
  EXPECT_EQ(sql_.value("SELECT to_regnamespace('holdfast')"), "NULL");
}

TEST_F(SchemaTest, RolesAndSchemasThatAreNotThereAreNamedAndLeaveNothing) {
  Program owner{url()};
  const auto role = owner.install({.roles = {"postgres", "no such role"}});
  ASSERT_FALSE(role);
  EXPECT_EQ(role.error().code, Errc::invalid_argument);
  EXPECT_NE(role.error().message.find("no such role"), std::string::npos) << role.error().message;
  const auto schema = owner.install({.names_in = "no such schema"});
  ASSERT_FALSE(schema);
  EXPECT_EQ(schema.error().code, Errc::invalid_argument);
  EXPECT_EQ(sql_.value("SELECT to_regnamespace('holdfast')"), "NULL");
  EXPECT_EQ(sql_.value("SELECT to_regproc('public.holdfast_check')"), "NULL");
}

TEST_F(SchemaTest, AFailedInstallationLeavesAnOlderVersionAsItWas) {
  Program owner{url()};
  ASSERT_TRUE(owner.install());
  ASSERT_FALSE(sql_.script(kBackToVersion1));
  EXPECT_FALSE(owner.install({.operators = {"no such role"}}));
  EXPECT_EQ(sql_.value("SELECT version FROM holdfast.version"), "1");
  EXPECT_EQ(sql_.value("SELECT to_regclass('holdfast.reserved')"), "NULL");
}

TEST_F(SchemaTest, FunctionsOfVersion3AreReplacedWithTheirRights) {
  const std::string role = make_role();
  Program owner{url()};
  ASSERT_TRUE(owner.install({.roles = {role}}));
  ASSERT_FALSE(sql_.script(
      "CREATE OR REPLACE FUNCTION holdfast.release(_name text, _owner text, _token bigint) "
      "RETURNS boolean LANGUAGE sql AS 'SELECT NULL::boolean'; "
      "UPDATE holdfast.version SET version = 3"));
  ASSERT_TRUE(owner.install());
  SqlConnection user{url(role)};
  EXPECT_EQ(user.value("SELECT outcome FROM holdfast.acquire('a', 'me', 30000, '', 'x', 0, NULL, "
                       "false)"),
            "granted");
  EXPECT_EQ(user.value("SELECT holdfast.release('a', 'me', NULL)"), "t");
  sql_.script("DROP OWNED BY " + role + "; DROP ROLE " + role);
}

TEST_F(SchemaTest, AnOlderVersionIsBroughtUpToDateAndItsUsersStayUsers) {
  const std::string role = make_role();
  Program owner{url()};
  const auto made = owner.install({.roles = {role}});
  ASSERT_TRUE(made) << made.error().message;
  ASSERT_FALSE(sql_.script(kBackToVersion1));
  const std::string before = sql_.value("SELECT holdfast.mint()");
  EXPECT_EQ(Program{url()}.ensure().get().error().code, Errc::unsupported);

  const auto upgraded = owner.install();
  ASSERT_TRUE(upgraded) << upgraded.error().message;
  EXPECT_EQ(upgraded->identity, made->identity);
  SqlConnection user{url(role)};
  const std::string after = user.value("SELECT holdfast.lock_xact(1, false, 0)");
  EXPECT_GT(std::stoull(after), std::stoull(before)) << after;
  EXPECT_GE(std::stoull(user.value("SELECT holdfast.reserve_tokens(0)")), std::stoull(after));
  EXPECT_EQ(sql_.value("SELECT has_function_privilege('public', 'holdfast.mint_ahead()', "
                       "'EXECUTE')"),
            "f");
  sql_.script("DROP OWNED BY " + role + "; DROP ROLE " + role);
}

TEST_F(SchemaTest, UninstallRefusesWhileLeasesStand) {
  Program owner{url()};
  ASSERT_TRUE(owner.install());
  sql_.value("SELECT * FROM holdfast.acquire('n', repeat('0', 32), 60000, '', 'x', 0, NULL, 'f')");
  EXPECT_EQ(sql_.value("SELECT count(*) FROM holdfast.list('')"), "1");
  const auto refused = owner.uninstall(Standing::refuse);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::busy) << refused.error().message;
  ASSERT_TRUE(owner.uninstall(Standing::ignore));
  EXPECT_EQ(sql_.value("SELECT to_regnamespace('holdfast')"), "NULL");
  EXPECT_EQ(sql_.value("SELECT to_regproc('public.holdfast_check')"), "NULL");
  EXPECT_EQ(owner.uninstall(Standing::ignore).error().code, Errc::not_found);
  EXPECT_TRUE(owner.install());
}

TEST_F(SchemaTest, UninstallDoesNotTakeAwayATrigger) {
  Program owner{url()};
  ASSERT_TRUE(owner.install());
  ASSERT_FALSE(
      sql_.script("CREATE TABLE t (); CREATE TRIGGER f BEFORE INSERT ON t FOR EACH "
                  "STATEMENT EXECUTE FUNCTION holdfast_fence('r')"));
  const auto refused = owner.uninstall(Standing::ignore);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::busy) << refused.error().message;
  EXPECT_NE(sql_.value("SELECT to_regnamespace('holdfast')"), "NULL");
}

TEST_F(SchemaTest, TheScriptForAnAdministratorMakesTheSame) {
  ASSERT_FALSE(sql_.script(installation_script({})));
  EXPECT_TRUE(Program{url()}.ensure().get());
  ASSERT_FALSE(sql_.script(uninstall_script()));
  EXPECT_EQ(sql_.value("SELECT to_regnamespace('holdfast')"), "NULL");
}

// What needs no grant may be called by everybody, with the rights of whoever made it.
TEST_F(SchemaTest, NothingIsLeftToEverybody) {
  ASSERT_TRUE(Program{url()}.ensure().get());
  EXPECT_EQ(sql_.value("SELECT coalesce(string_agg(proname, ' '), 'none') FROM pg_proc "
                       "WHERE pronamespace = 'holdfast'::regnamespace AND "
                       "has_function_privilege('public', oid, 'EXECUTE')"),
            "none");
  // And none of those that borrow rights can be led astray by a search path. mint() needs none of
  // its own: every name in it is qualified.
  EXPECT_EQ(sql_.value("SELECT coalesce(string_agg(proname, ' '), 'none') FROM pg_proc "
                       "WHERE pronamespace = 'holdfast'::regnamespace AND prosecdef AND "
                       "proname <> 'mint' AND NOT "
                       "coalesce('search_path=pg_catalog, pg_temp' = ANY (proconfig), false)"),
            "none");
}

}  // namespace
}  // namespace holdfast::postgres
