// Locks inside the caller's own transaction, with psql as the other party in both directions.

#include <future>

#include "tests/postgres_callers/party.h"

namespace holdfast::postgres {
namespace {

using XactLockTest = CallersBed;

Errc code_of(const Result<Token, AcquireError>& result) {
  return result ? Errc{} : result.error().code;
}

TEST_P(XactLockTest, PsqlIsShutOutUntilTheCommit) {
  auto& transaction = party_->begin();
  ASSERT_TRUE(lock_advisory_xact(transaction, "id:701"));
  EXPECT_EQ(psql_.ask("SELECT pg_try_advisory_xact_lock(701)"), "f");
  party_->commit();
  EXPECT_EQ(psql_.ask("SELECT pg_try_advisory_xact_lock(701)"), "t");
}

TEST_P(XactLockTest, ARollbackReleasesAsWell) {
  ASSERT_TRUE(lock_advisory_xact(party_->begin(), "id:702"));
  party_->rollback();
  EXPECT_EQ(psql_.ask("SELECT pg_try_advisory_xact_lock(702)"), "t");
}

TEST_P(XactLockTest, WhatPsqlHasIsBusyAndTheTransactionGoesOn) {
  psql_.begin();
  psql_.ask("SELECT pg_advisory_xact_lock(703)");
  auto& transaction = party_->begin();
  EXPECT_EQ(code_of(lock_advisory_xact(transaction, "id:703", {.wait = Millis{0}})), Errc::busy);
  EXPECT_EQ(code_of(lock_advisory_xact(transaction, "id:703", {.wait = Millis{30}})),
            Errc::timeout);
  EXPECT_EQ(transaction.run("SHOW lock_timeout", {})->front()[0], "0");
  psql_.commit();
  EXPECT_TRUE(lock_advisory_xact(transaction, "id:703", {.wait = Millis{30'000}}));
  party_->commit();
}

TEST_P(XactLockTest, WhoWaitsIsGrantedWhenPsqlCommits) {
  psql_.begin();
  psql_.ask("SELECT pg_advisory_xact_lock(704)");
  auto waiting = std::async(std::launch::async, [&] {
    const auto token = lock_advisory_xact(party_->begin(), "id:704");
    party_->commit();
    return code_of(token);
  });
  while (psql_.ask("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted") ==
         "0") {
  }
  psql_.commit();
  EXPECT_EQ(waiting.get(), Errc{});
}

TEST_P(XactLockTest, ANameIsTheKeyThatTheGuideSays) {
  ASSERT_TRUE(lock_advisory_xact(party_->begin(), "reports", {.prefix = "hf/"}));
  const std::string key =
      "('x' || encode(substr(sha256(convert_to('hf/reports', 'UTF8')), 1, 8), 'hex'))::bit(64)"
      "::bigint";
  EXPECT_EQ(psql_.ask("SELECT pg_try_advisory_xact_lock(" + key + ")"), "f");
  party_->commit();
  EXPECT_EQ(psql_.ask("SELECT pg_try_advisory_xact_lock(" + key + ")"), "t");
}

TEST_P(XactLockTest, SharedLocksGoTogether) {
  psql_.begin();
  psql_.ask("SELECT pg_advisory_xact_lock_shared(705)");
  auto& transaction = party_->begin();
  EXPECT_TRUE(lock_advisory_xact(transaction, "id:705", {.mode = holdfast::Mode::shared}));
  EXPECT_EQ(code_of(lock_advisory_xact(transaction, "id:705", {.wait = Millis{0}})), Errc::busy);
  psql_.commit();
  party_->commit();
}

TEST_P(XactLockTest, TokensRiseWithEveryGrant) {
  Token last{0};
  for (int i = 0; i < 20; ++i) {
    const auto token = lock_advisory_xact(party_->begin(), "id:706");
    ASSERT_TRUE(token);
    EXPECT_GT(*token, last);
    last = *token;
    party_->commit();
  }
}

TEST_P(XactLockTest, WrongCallsTouchNothing) {
  auto& transaction = party_->begin();
  EXPECT_EQ(code_of(lock_advisory_xact(transaction, "")), Errc::invalid_argument);
  EXPECT_EQ(code_of(lock_advisory_xact(transaction, "x", {.mode = holdfast::Mode::permit})),
            Errc::unsupported);
  party_->commit();
}

INSTANTIATE_TEST_SUITE_P(Libraries, XactLockTest, kLibraries);

class RowLockTest : public CallersBed {
 protected:
  RowLockTest() {
    table_ = "jobs_" + name();
    psql_.ask("CREATE TABLE \"" + table_ + "\" (id int PRIMARY KEY); INSERT INTO \"" + table_ +
              "\" VALUES (1), (2), (3); SELECT 1");
    select_ = "SELECT id FROM \"" + table_ + "\" WHERE id = $1";
  }

  std::string of_psql(const std::string& id, const std::string& how) {
    return psql_.ask("SELECT count(*) FROM (SELECT id FROM \"" + table_ + "\" WHERE id = " + id +
                     " FOR UPDATE " + how + ") r");
  }

  std::string table_;
  std::string select_;
};

TEST_P(RowLockTest, PsqlIsShutOutUntilTheCommit) {
  auto& transaction = party_->begin();
  const auto locked = lock_rows(transaction, select_, {"1"});
  ASSERT_TRUE(locked) << locked.error().message;
  EXPECT_EQ(locked->rows, (Rows{{"1"}}));
  EXPECT_EQ(of_psql("1", "SKIP LOCKED"), "0");
  EXPECT_EQ(of_psql("2", "SKIP LOCKED"), "1");
  party_->commit();
  EXPECT_EQ(of_psql("1", "SKIP LOCKED"), "1");
}

TEST_P(RowLockTest, WhatPsqlHasIsBusyAndTheTransactionGoesOn) {
  psql_.begin();
  ASSERT_EQ(of_psql("1", ""), "1");
  auto& transaction = party_->begin();
  const auto busy = lock_rows(transaction, select_, {"1"}, RowWait::nowait);
  ASSERT_FALSE(busy);
  EXPECT_EQ(busy.error().code, Errc::busy) << busy.error().message;
  EXPECT_TRUE(lock_rows(transaction, select_, {"2"}, RowWait::nowait));
  psql_.commit();
  EXPECT_TRUE(lock_rows(transaction, select_, {"1"}, RowWait::nowait));
  party_->commit();
}

TEST_P(RowLockTest, JobsAreSharedOutByWhatIsFree) {
  psql_.begin();
  ASSERT_EQ(of_psql("1", ""), "1");
  const std::string next = "SELECT id FROM \"" + table_ + "\" ORDER BY id LIMIT 1";
  auto& transaction = party_->begin();
  const auto job = lock_rows(transaction, next, {}, RowWait::skip_locked);
  ASSERT_TRUE(job);
  EXPECT_EQ(job->rows, (Rows{{"2"}}));
  psql_.commit();
  party_->commit();
}

TEST_P(RowLockTest, NoRowIsNotFound) {
  const auto none = lock_rows(party_->begin(), select_, {"17"});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Errc::not_found);
  party_->commit();
}

TEST_P(RowLockTest, ATokenIsHigherThanThatOfWhoHadTheRowBefore) {
  const auto first = lock_rows(party_->begin(), select_, {"1"});
  const auto other = make_party();
  auto waiting = std::async(std::launch::async, [&] {
    const auto second = lock_rows(other->begin(), select_, {"1"});
    other->commit();
    return second ? second->token : Token{0};
  });
  while (psql_.ask("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'") == "0") {
  }
  party_->commit();
  ASSERT_TRUE(first);
  EXPECT_GT(waiting.get(), first->token);
}

INSTANTIATE_TEST_SUITE_P(Libraries, RowLockTest, kLibraries);

}  // namespace
}  // namespace holdfast::postgres
