// The fence and exactly-once inside the caller's own transaction.

#include <future>

#include "tests/postgres_callers/party.h"

namespace holdfast::postgres {
namespace {

Sequencer holder(std::uint64_t token) {
  return {.domain = "postgres:d?prefix=hf%2F",
          .name = "lock",
          .mode = holdfast::Mode::exclusive,
          .token = Token{token},
          .owner_fp = "owner-" + std::to_string(token)};
}

class FencedCallTest : public CallersBed {
 protected:
  std::string resource_ = "hf/" + name();
};

TEST_P(FencedCallTest, PsqlOvertakesAndTheOldHolderLearnsBothTokens) {
  auto& transaction = party_->begin();
  ASSERT_EQ(fence_open(transaction, resource_, holder(33)).value_or(9), 0U);
  EXPECT_EQ(fence_check(transaction, resource_, holder(33), 1).value(), Applied::applied);
  party_->commit();
  EXPECT_EQ(psql_.ask("SELECT holdfast_open('" + resource_ + "', 34)"), "0");
  const auto stale = fence_check(party_->begin(), resource_, holder(33), 2);
  ASSERT_FALSE(stale);
  EXPECT_EQ(stale.error().code, Errc::stale_token) << stale.error().message;
  EXPECT_EQ(stale.error().yours, Token{33});
  EXPECT_EQ(stale.error().highest, Token{34});
  party_->rollback();
}

TEST_P(FencedCallTest, WhatWasCommittedIsADuplicate) {
  auto& first = party_->begin();
  ASSERT_TRUE(fence_open(first, resource_, holder(5)));
  ASSERT_TRUE(fence_check(first, resource_, holder(5), 1));
  party_->commit();
  EXPECT_EQ(fence_check(party_->begin(), resource_, holder(5), 1).value(), Applied::duplicate);
  party_->commit();
  EXPECT_EQ(psql_.ask("SELECT holdfast_check('" + resource_ + "', 5, 1)"), "duplicate");
}

TEST_P(FencedCallTest, AnotherLockIsRefused) {
  ASSERT_TRUE(fence_open(party_->begin(), resource_, holder(5)));
  party_->commit();
  Sequencer stranger = holder(6);
  stranger.name = "another";
  const auto refused = fence_open(party_->begin(), resource_, stranger);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::wrong_domain);
  party_->rollback();
}

INSTANTIATE_TEST_SUITE_P(Libraries, FencedCallTest, kLibraries);

class OnceTest : public CallersBed {
 protected:
  OnceTest() {
    table_ = '"' + ("effects_" + name()) + '"';
    psql_.ask("CREATE TABLE " + table_ + " (n int); SELECT 1");
  }

  /// Leaves one row behind for each time it is run.
  Result<OnceReport, StoreError> run_once(Transaction& transaction,
                                          std::string result = "done",
                                          XactOnceOptions options = {}) {
    const auto function = [&]() -> Result<OnceResult> {
      const auto made = transaction.run("INSERT INTO " + table_ + " VALUES (1)", {});
      if (!made) return Unexpected{Error{made.error()}};
      return OnceResult{.status = 7, .bytes = result};
    };
    return once(transaction, name(), function, options);
  }

  std::string effects() { return psql_.ask("SELECT count(*) FROM " + table_); }

  std::string table_;
};

TEST_P(OnceTest, LaterCallersGetTheResultOfTheFirst) {
  const std::string bytes{"a\0b", 3};
  const auto first = run_once(party_->begin(), bytes);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->ran, Ran::here);
  party_->commit();
  const auto second = run_once(party_->begin());
  ASSERT_TRUE(second);
  EXPECT_EQ(second->ran, Ran::before);
  EXPECT_EQ(second->result.status, 7);
  EXPECT_EQ(second->result.bytes, bytes);
  party_->commit();
  EXPECT_EQ(effects(), "1");
}

TEST_P(OnceTest, KeyAndEffectAreRolledBackTogether) {
  ASSERT_TRUE(run_once(party_->begin()));
  party_->rollback();
  EXPECT_EQ(effects(), "0");
  EXPECT_EQ(run_once(party_->begin())->ran, Ran::here);
  party_->commit();
  EXPECT_EQ(effects(), "1");
}

// Many at once, and each other transaction fails: the effect is there exactly once.
TEST_P(OnceTest, AmongManyExactlyOneRuns) {
  std::vector<std::future<int>> all;
  for (int i = 0; i < 8; ++i) {
    all.push_back(std::async(std::launch::async, [&, i] {
      const auto party = make_party();
      const auto report = run_once(party->begin());
      if (i % 2 == 0) {
        party->rollback();
        return 0;
      }
      party->commit();
      return report && report->ran == Ran::here ? 1 : 0;
    }));
  }
  int ran = 0;
  for (auto& one : all) ran += one.get();
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(effects(), "1");
}

TEST_P(OnceTest, WhatIsKeptNoLongerIsRunAgain) {
  ASSERT_TRUE(run_once(party_->begin(), "first", {.keep = Millis{1}}));
  party_->commit();
  while (psql_.ask("SELECT expires <= clock_timestamp() FROM holdfast.once WHERE key = '" + name() +
                   "'") != "t") {
  }
  EXPECT_EQ(run_once(party_->begin(), "second")->ran, Ran::here);
  party_->commit();
  EXPECT_EQ(effects(), "2");
}

TEST_P(OnceTest, AFunctionThatFailsLeavesNothingToCommit) {
  const auto failed = once(party_->begin(), name(), []() -> Result<OnceResult> {
    return Unexpected{Error{Errc::internal, "no"}};
  });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "no");
  party_->rollback();
  EXPECT_EQ(psql_.ask("SELECT count(*) FROM holdfast.once WHERE key = '" + name() + "'"), "0");
}

INSTANTIATE_TEST_SUITE_P(Libraries, OnceTest, kLibraries);

TEST(LibpqTransactionTest, WithoutATransactionNothingIsTaken) {
  SqlConnection sql{shared_server().url()};
  LibpqTransaction transaction{sql.raw()};
  const auto none = lock_advisory_xact(transaction, "id:1");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Errc::invalid_argument);
}

TEST(LibpqTransactionTest, ATransactionThatFailedTakesNothing) {
  SqlConnection sql{shared_server().url()};
  LibpqTransaction transaction{sql.raw()};
  sql.script("BEGIN");
  sql.script("SELECT 1 / 0");
  const auto none = lock_advisory_xact(transaction, "id:1");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Errc::invalid_argument);
}

TEST(LibpqTransactionTest, ADatabaseWithoutTheSchemaIsNamed) {
  SqlConnection sql{shared_server().url("postgres", shared_server().create_database())};
  sql.script("BEGIN");
  LibpqTransaction transaction{sql.raw()};
  const auto none = lock_advisory_xact(transaction, "id:1");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Errc::unavailable);
  EXPECT_NE(none.error().remedy().find("holdfast install postgres"), std::string_view::npos);
}

}  // namespace
}  // namespace holdfast::postgres
