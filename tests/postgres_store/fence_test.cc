// The fence that programs in any language call inside their own transactions.

#include <random>

#include "core/fence.h"
#include "tests/postgres_store/store_bed.h"

namespace holdfast::postgres {
namespace {

class FenceTest : public StoreBed {
 protected:
  /// A word or a number, or a refusal as `SQLSTATE message`.
  std::string open_as(std::uint64_t token, const Value& owner = {}) {
    return sql_.value("SELECT holdfast_open('r', $1, $2)", {std::to_string(token), owner});
  }
  std::string check(std::uint64_t token, const Value& sequence = {}, const Value& owner = {}) {
    return sql_.value("SELECT holdfast_check('r', $1, $2, $3)",
                      {std::to_string(token), sequence, owner});
  }
};

TEST_F(FenceTest, ANewerTokenShutsTheOlderOneOut) {
  EXPECT_EQ(open_as(33), "0");
  EXPECT_EQ(check(33, "1"), "applied");
  EXPECT_EQ(open_as(33), "1");
  EXPECT_EQ(open_as(34), "0");
  const Answer answer = sql_.run("SELECT holdfast_check('r', 33, 2)");
  const auto& refusal = std::get<Refusal>(answer);
  EXPECT_EQ(refusal.sqlstate, "HF001");
  EXPECT_EQ(refusal.message, "token 33 is stale: the resource has seen 34");
  EXPECT_EQ(refusal.detail, "yours=33 highest=34");
  EXPECT_EQ(open_as(33), "HF001 token 33 is stale: the resource has seen 34");
}

TEST_F(FenceTest, WhatWasDoneIsADuplicate) {
  ASSERT_EQ(open_as(5), "0");
  EXPECT_EQ(check(5, "1"), "applied");
  EXPECT_EQ(check(5, "1"), "duplicate");
  EXPECT_EQ(check(5), "applied");
  EXPECT_EQ(check(5, "1"), "HF001 sequence 1 is older than 2, the last one done under token 5");
}

TEST_F(FenceTest, WhatWasRolledBackWasNotDone) {
  ASSERT_EQ(open_as(5), "0");
  sql_.script("BEGIN");
  EXPECT_EQ(check(5, "1"), "applied");
  sql_.script("ROLLBACK");
  EXPECT_EQ(check(5, "1"), "applied");
}

TEST_F(FenceTest, OneWhoDidNotOpenMayNotWrite) {
  EXPECT_TRUE(check(5, "1").starts_with("HF001")) << check(5, "1");
  ASSERT_EQ(open_as(5), "0");
  EXPECT_TRUE(check(6, "1").starts_with("HF001")) << check(6, "1");
}

TEST_F(FenceTest, TheSameTokenOfAnotherOwnerIsRefused) {
  ASSERT_EQ(open_as(5, "ann"), "0");
  EXPECT_EQ(open_as(5, "bob"), "HF001 token 5 belongs to another owner");
  EXPECT_EQ(check(5, "1", "bob"), "HF001 token 5 belongs to another owner");
  EXPECT_EQ(check(5, "1", "ann"), "applied");
}

TEST_F(FenceTest, WrongArgumentsAreNamed) {
  EXPECT_EQ(open_as(0), "HF003 the token is out of range");
  EXPECT_EQ(sql_.value("SELECT holdfast_open('', 1)").substr(0, 5), "HF003");
  EXPECT_EQ(sql_.value("SELECT holdfast_open('r', 1, mode => 'permit')").substr(0, 5), "HF003");
  EXPECT_EQ(sql_.value("SELECT count(*) FROM holdfast.store"), "0");
  ASSERT_EQ(open_as(1), "0");
  EXPECT_EQ(check(1, "0"), "HF003 sequence 0 is the open");
}

TEST_F(FenceTest, StrictAllowsOneWritePerToken) {
  ASSERT_EQ(sql_.value("SELECT holdfast_open('r', 5, policy => 'strict')"), "0");
  EXPECT_EQ(check(5, "1"), "applied");
  EXPECT_TRUE(check(5, "2").starts_with("HF001"));
  ASSERT_EQ(open_as(6), "0");
  EXPECT_EQ(check(6, "1"), "applied");
}

// The newer holder waits for the write that is under way, or fails; it never comes between.
TEST_F(FenceTest, TheFenceStaysLockedUntilTheCommit) {
  ASSERT_EQ(open_as(5), "0");
  sql_.script("BEGIN");
  ASSERT_EQ(check(5, "1"), "applied");
  SqlConnection newer{url()};
  newer.script("SET lock_timeout = 50");
  EXPECT_TRUE(newer.value("SELECT holdfast_open('r', 6)").starts_with("55P03"));
  sql_.script("COMMIT");
  EXPECT_EQ(newer.value("SELECT holdfast_open('r', 6)"), "0");
  EXPECT_TRUE(check(5, "2").starts_with("HF001"));
}

// A snapshot from before the takeover must not let the old holder pass.
TEST_F(FenceTest, AnOldSnapshotIsNoWayAround) {
  ASSERT_EQ(open_as(5), "0");
  sql_.script("BEGIN ISOLATION LEVEL REPEATABLE READ");
  sql_.value("SELECT count(*) FROM holdfast.store");
  SqlConnection newer{url()};
  ASSERT_EQ(newer.value("SELECT holdfast_open('r', 6)"), "0");
  EXPECT_TRUE(check(5, "1").starts_with("40001")) << check(5, "1");
  sql_.script("ROLLBACK");
}

TEST_F(FenceTest, ItIsTheFenceOfTheStoresResource) {
  ASSERT_TRUE(perform(open(5)));
  EXPECT_EQ(sql_.value("SELECT holdfast_check('hf/k', 5, 1)"), "applied");
  EXPECT_EQ(sql_.value("SELECT holdfast_open('hf/k', 6)"), "0");
  EXPECT_EQ(perform(write(5, 2, "late")).error().code, Errc::stale_token);
}

TEST_F(FenceTest, ATriggerRefusesWritesOfAnOldToken) {
  ASSERT_FALSE(
      sql_.script("CREATE TABLE account (id int PRIMARY KEY, balance int);"
                  "INSERT INTO account VALUES (1, 100);"
                  "CREATE TRIGGER fence BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE "
                  "ON account FOR EACH STATEMENT EXECUTE FUNCTION holdfast_fence('r')"));
  const auto set_balance = [&](const std::string& token) {
    const auto refusal = sql_.script("BEGIN; SET LOCAL holdfast.token = '" + token +
                                     "'; UPDATE account SET balance = 20; COMMIT");
    sql_.script("ROLLBACK");
    return refusal ? refusal->sqlstate : "done";
  };
  EXPECT_EQ(sql_.value("UPDATE account SET balance = 0").substr(0, 5), "HF004");
  EXPECT_EQ(set_balance("5"), "HF001");
  ASSERT_EQ(open_as(5), "0");
  EXPECT_EQ(set_balance("5"), "done");
  ASSERT_EQ(open_as(6), "0");
  EXPECT_EQ(set_balance("5"), "HF001");
  EXPECT_EQ(set_balance("6"), "done");
  EXPECT_EQ(sql_.value("TRUNCATE account").substr(0, 5), "HF004");
}

TEST_F(FenceTest, ATriggerMayHaveAFenceForEachRow) {
  ASSERT_FALSE(
      sql_.script("CREATE TABLE account (id int PRIMARY KEY, balance int);"
                  "INSERT INTO account VALUES (1, 100), (2, 100);"
                  "CREATE TRIGGER fence BEFORE INSERT OR UPDATE OR DELETE ON account FOR "
                  "EACH ROW EXECUTE FUNCTION holdfast_fence('account/', 'id')"));
  ASSERT_EQ(sql_.value("SELECT holdfast_open('account/1', 5)"), "0");
  sql_.script("SET holdfast.token = '5'");
  EXPECT_EQ(sql_.value("UPDATE account SET balance = 1 WHERE id = 1 RETURNING balance"), "1");
  EXPECT_EQ(sql_.value("UPDATE account SET balance = 1 WHERE id = 2").substr(0, 5), "HF001");
  EXPECT_EQ(sql_.value("UPDATE account SET id = 3 WHERE id = 1").substr(0, 5), "HF001");
  EXPECT_EQ(sql_.value("DELETE FROM account WHERE id = 1 RETURNING id"), "1");
}

// While one writes under the trigger, a newer holder's open waits.
TEST_F(FenceTest, ATriggerHoldsTheFenceUntilTheCommit) {
  ASSERT_FALSE(
      sql_.script("CREATE TABLE account (balance int);"
                  "CREATE TRIGGER fence BEFORE INSERT ON account FOR EACH STATEMENT "
                  "EXECUTE FUNCTION holdfast_fence('r')"));
  ASSERT_EQ(open_as(5), "0");
  ASSERT_FALSE(sql_.script("BEGIN; SET LOCAL holdfast.token = '5'"));
  ASSERT_FALSE(sql_.script("INSERT INTO account VALUES (1)"));
  SqlConnection newer{url()};
  newer.script("SET lock_timeout = 50");
  EXPECT_TRUE(newer.value("SELECT holdfast_open('r', 6)").starts_with("55P03"));
  sql_.script("COMMIT");
  EXPECT_EQ(newer.value("SELECT holdfast_open('r', 6)"), "0");
}

/// What the pure functions say to the same calls.
class Pure {
 public:
  std::string open(const core::Holder& holder) {
    auto decided = core::decide_open(fence_, holder, {});
    if (!decided) return word(decided.error());
    fence_ = *decided;
    return std::to_string(fence_->sequence);
  }

  std::string check(const core::Holder& holder, std::optional<std::uint64_t> sequence) {
    auto decided = core::decide_write(
        fence_,
        holder,
        {.opened = core::Opened::before, .sequence = sequence, .leaves_the_same = true});
    if (!decided) return word(decided.error());
    fence_ = decided->fence;
    return decided->applied == Applied::duplicate ? "duplicate" : "applied";
  }

 private:
  static std::string word(const StoreError& error) {
    return (error.code == Errc::stale_token ? "HF001 " : "HF003 ") + error.message;
  }

  std::optional<core::Fence> fence_;
};

TEST_F(FenceTest, SqlAndPureFunctionsDecideTheSame) {
  std::mt19937 chance{7};
  const auto below = [&](std::uint64_t end) { return chance() % end; };
  Pure pure;
  for (std::uint64_t i = 0; i < 3000; ++i) {
    const std::uint64_t token = 1 + i / 40 + below(4);
    const std::string owner = below(8) == 0 ? "thief" : "owner-" + std::to_string(token);
    const core::Holder holder{
        .domain = "", .mode = holdfast::Mode::exclusive, .token = Token{token}, .owner_fp = owner};
    if (below(3) == 0) {
      ASSERT_EQ(open_as(token, owner), pure.open(holder)) << i;
      continue;
    }
    std::optional<std::uint64_t> sequence;
    if (below(4) != 0) sequence = below(6);
    const Value text = sequence ? Value{std::to_string(*sequence)} : std::nullopt;
    ASSERT_EQ(check(token, text, owner), pure.check(holder, sequence)) << i;
  }
}

class RightsTest : public StoreBed {
 protected:
  RightsTest() {
    role_ = "app_" + database_;
    sql_.script("CREATE ROLE " + role_ + " LOGIN");
  }
  ~RightsTest() override { sql_.script("DROP OWNED BY " + role_ + "; DROP ROLE " + role_); }

  std::string as_role(const std::string& sql) {
    SqlConnection connection{shared_server().url(role_, database_)};
    return connection.value(sql).substr(0, 5);
  }

  std::string role_;
};

TEST_F(RightsTest, WithoutAGrantNothingMayBeCalled) {
  EXPECT_EQ(as_role("SELECT holdfast_open('r', 1)"), "42501");
  EXPECT_EQ(as_role("SELECT version FROM holdfast.version"), "42501");
  EXPECT_EQ(as_role("SELECT holdfast.mint()"), "42501");
}

TEST_F(RightsTest, AnApplicationMayCallAndTouchNoTable) {
  ASSERT_FALSE(sql_.script(grant_script(role_, Rights::application)));
  EXPECT_EQ(as_role("SELECT version FROM holdfast.version"), std::to_string(kSchemaVersion));
  EXPECT_EQ(as_role("SELECT holdfast_open('r', 1)"), "0");
  EXPECT_EQ(as_role("SELECT holdfast_check('r', 1, 1)"), "appli");
  EXPECT_EQ(as_role("SELECT word FROM holdfast.store_put('value', 'k', 'v', NULL, 1, NULL)"),
            "appli");
  for (const char* table : {"store", "audit", "once", "exposed", "holder", "waiter", "reserved"}) {
    EXPECT_EQ(as_role("SELECT count(*) FROM holdfast." + std::string{table}), "42501") << table;
  }
  EXPECT_EQ(as_role("UPDATE holdfast.version SET version = 7"), "42501");
  EXPECT_EQ(as_role("SELECT nextval('holdfast.token')"), "42501");
  EXPECT_EQ(as_role("SELECT holdfast.store_rebase('value', 'r', 'd', 'w', 'w', 1)"), "42501");
  EXPECT_EQ(as_role("SELECT holdfast.break('n', 'why')"), "42501");
  EXPECT_EQ(as_role("SELECT holdfast.grant_to('postgres', 'operator')"), "42501");
}

TEST_F(RightsTest, AnOperatorMayTakeThingsAway) {
  ASSERT_FALSE(sql_.script(grant_script(role_, Rights::operate)));
  EXPECT_EQ(as_role("SELECT word FROM holdfast.store_rebase('value', 'r', 'd', 'w', 'w', 1)"),
            "not_f");
  EXPECT_EQ(as_role("SELECT count(*) FROM holdfast.break('n', 'why')"), "0");
}

}  // namespace
}  // namespace holdfast::postgres
