// Statements over real connections.

#include <gmock/gmock.h>

#include <thread>

#include "tests/postgres/driver_bed.h"
#include "tests/postgres/shared_server.h"

namespace holdfast::postgres {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using Kind = SessionEvent::Kind;

constexpr Statement kEcho{"bed_echo", "SELECT $1::text, $2::text"};
constexpr Statement kAdd{"bed_add", "INSERT INTO t VALUES ($1::int) RETURNING a"};

TEST(PostgresStatementTest, ValuesArriveAsTheyWereSent) {
  DriverBed bed{shared_server().url()};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(shown(bed.ask(share({&kEcho, {"ä'\\\"\n", std::nullopt}}))), "ä'\\\"\n|-");
  }
  EXPECT_EQ(shown(bed.ask("SELECT a, a * 2 FROM generate_series(1, 3) a")), "1|2;2|4;3|6");
  EXPECT_EQ(shown(bed.ask("SET application_name TO x")), "");
  EXPECT_EQ(bed.direct(), PostgresPort::Direct::yes);
}

TEST(PostgresStatementTest, RefusalsNameTheServerAndTheConnectionStays) {
  DriverBed bed{shared_server().url()};
  const auto answer = bed.ask("SELECT * FROM nowhere");
  ASSERT_TRUE(answer);
  const auto& refusal = std::get<Refusal>(*answer);
  EXPECT_EQ(refusal.sqlstate, "42P01");
  EXPECT_EQ(refusal.message,
            "relation \"nowhere\" does not exist (at " + shared_server().endpoint() + ')');
  EXPECT_EQ(shown(bed.ask(plain("SELECT $1", {std::string{"a\0b", 3}}))), "!22021");
  EXPECT_EQ(shown(bed.ask("SELECT 1")), "1");
  EXPECT_EQ(bed.stats().connections, 1U);
}

TEST(PostgresStatementTest, WhatTheEndOfATransactionRefusesIsRefused) {
  const std::string database = shared_server().create_database();
  shared_server().psql("CREATE TABLE t (a int UNIQUE DEFERRABLE INITIALLY DEFERRED)", database);
  DriverBed bed{shared_server().url("postgres", database)};
  EXPECT_EQ(shown(bed.ask(share({&kAdd, {"1"}}))), "1");
  EXPECT_EQ(shown(bed.ask(share({&kAdd, {"1"}}))), "!23505");
  EXPECT_EQ(shown(bed.ask(share({&kAdd, {"2"}}))), "2");
  EXPECT_EQ(shared_server().psql("SELECT count(*) FROM t", database), "2");
}

TEST(PostgresStatementTest, AStatementThatCouldNotBePreparedIsPreparedLater) {
  const std::string database = shared_server().create_database();
  DriverBed bed{shared_server().url("postgres", database)};
  std::vector<std::future<Result<Answer>>> answers;
  for (int i = 0; i < 3; ++i) answers.push_back(bed.send(share({&kAdd, {"1"}})));
  for (auto& answer : answers) EXPECT_EQ(shown(get(std::move(answer))), "!42P01");
  shared_server().psql("CREATE TABLE t (a int)", database);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(shown(bed.ask(share({&kAdd, {"7"}}))), "7");
  const char* const names = "SELECT name FROM pg_prepared_statements";
  EXPECT_EQ(shown(bed.ask(names)), "bed_add");
  EXPECT_EQ(shown(bed.ask("DEALLOCATE ALL")), "");
  // What a backend has forgotten is refused, and prepared again.
  EXPECT_EQ(shown(bed.ask(share({&kAdd, {"8"}}))), "!26000");
  EXPECT_EQ(shown(bed.ask(share({&kAdd, {"8"}}))), "8");
}

TEST(PostgresStatementTest, ManyAtOnceShareAFewConnections) {
  const std::string database = shared_server().create_database();
  shared_server().psql("CREATE TABLE t (a int)", database);
  DriverBed bed{shared_server().url("postgres", database)};
  constexpr int kMany = 2000;
  std::vector<SharedCall> calls;
  for (int i = 0; i < kMany; ++i) calls.push_back(share({&kAdd, {std::to_string(i)}}));
  int number = 0;
  for (auto& answer : bed.send_all(calls)) {
    EXPECT_EQ(shown(get(std::move(answer))), std::to_string(number++));
  }
  EXPECT_EQ(shared_server().psql("SELECT count(DISTINCT a) FROM t", database), "2000");
  EXPECT_EQ(bed.stats().connections, 4U);
}

TEST(PostgresStatementTest, ConnectionsThatNobodyUsesAreClosedButForOne) {
  const std::string database = shared_server().create_database();
  DriverBed bed{shared_server().url("postgres", database), {.kept_idle = 50ms}};
  // So long that the next does not wait for it.
  const std::vector<SharedCall> calls(20, plain("SELECT 1 FROM pg_sleep(0.05)"));
  for (auto& answer : bed.send_all(calls)) EXPECT_EQ(shown(get(std::move(answer))), "1");
  EXPECT_GT(bed.stats().connections, 1U);
  const std::string there =
      "SELECT count(*) FROM pg_stat_activity WHERE datname = '" + database + '\'';
  const TimePoint end = BootClock::now() + kBound;
  while (shared_server().psql(there) != "1" && BootClock::now() < end) std::this_thread::yield();
  EXPECT_EQ(shared_server().psql(there), "1");
  const auto before = bed.stats().connections;
  EXPECT_EQ(shown(bed.ask("SELECT 2")), "2");
  EXPECT_EQ(bed.stats().connections, before);
}

TEST(PostgresStatementTest, OneThatTakesLongKeepsNobodyElseWaiting) {
  DriverBed bed{shared_server().url()};
  ASSERT_TRUE(bed.ask("SELECT 1"));
  std::vector<std::future<Result<Answer>>> slow;
  for (int i = 0; i < 3; ++i) slow.push_back(bed.send(plain("SELECT pg_sleep(50)"), 2 * kBound));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(shown(bed.ask("SELECT 1")), "1");
  for (auto& answer : slow) EXPECT_NE(answer.wait_for(0s), std::future_status::ready);
}

TEST(PostgresStatementTest, ALateAnswerIsAnUnknownOutcomeAndOthersGoOn) {
  DriverBed bed{shared_server().url(), {.silence = 100ms}};
  const Error error = error_of(bed.ask(plain("SELECT pg_sleep(30)"), 200ms));
  EXPECT_EQ(error.code, Errc::unknown_outcome);
  EXPECT_THAT(error.message, HasSubstr(shared_server().endpoint() + ": no answer in time"));
  EXPECT_EQ(shown(bed.ask("SELECT 1")), "1");
  // The server looks for us, and ends what nobody waits for.
  const std::string sleeping =
      "SELECT count(*) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(30)' AND pid <> "
      "pg_backend_pid() AND state = 'active'";
  const TimePoint end = BootClock::now() + 15s;
  while (shared_server().psql(sleeping) != "0" && BootClock::now() < end) std::this_thread::yield();
  EXPECT_EQ(shared_server().psql(sleeping), "0");
}

TEST(PostgresSessionTest, StatementsRunInTheirOrderOnOneBackend) {
  DriverBed bed{shared_server().url()};
  BedSession session{bed};
  std::vector<std::future<Result<Answer>>> answers;
  answers.push_back(session.send(plain("SELECT set_config('hf.a', '0', false)")));
  const char* const add =
      "SELECT set_config('hf.a', (current_setting('hf.a')::int + 1)::text, false)";
  for (int i = 0; i < 100; ++i) answers.push_back(session.send(plain(add)));
  for (int i = 0; i <= 100; ++i) {
    EXPECT_EQ(shown(get(std::move(answers[static_cast<std::size_t>(i)]))), std::to_string(i));
  }
  const std::string backend = shown(session.ask("SELECT pg_backend_pid()"));
  EXPECT_EQ(backend, std::to_string(session.backend()));
  EXPECT_EQ(bed.stats().connections, 1U);
}

TEST(PostgresSessionTest, NotificationsAreTold) {
  DriverBed bed{shared_server().url()};
  BedSession session{bed};
  EXPECT_EQ(shown(session.ask("LISTEN c1")), "");
  shared_server().psql("NOTIFY c1, 'one'; NOTIFY c2, 'nobody'; NOTIFY c1, 'two'");
  EXPECT_EQ(session.next(Kind::notified).payload, "one");
  const SessionEvent second = session.next(Kind::notified);
  EXPECT_EQ(second.payload, "two");
  EXPECT_EQ(second.channel, "c1");
  EXPECT_EQ(shown(session.ask("NOTIFY c1, 'own'")), "");
  EXPECT_EQ(session.next(Kind::notified).payload, "own");
}

TEST(PostgresSessionTest, ItsEndEndsTheBackendEvenWhenThatWaits) {
  DriverBed bed{shared_server().url()};
  BedSession holder{bed};
  EXPECT_EQ(shown(holder.ask("SELECT pg_advisory_lock(8)::text")), "");
  BedSession waiter{bed};
  waiter.next(Kind::connected);
  auto dropped = waiter.send(plain("SELECT pg_advisory_lock(8)::text"));
  const std::string waits =
      "SELECT count(*) FROM pg_locks WHERE objid = 8 AND locktype = 'advisory'";
  const TimePoint end = BootClock::now() + kBound;
  while (shared_server().psql(waits) != "2" && BootClock::now() < end) std::this_thread::yield();
  waiter.end();
  while (shared_server().psql(waits) != "1" && BootClock::now() < end) std::this_thread::yield();
  EXPECT_EQ(shared_server().psql(waits), "1");
  holder.end();
  while (shared_server().psql(waits) != "0" && BootClock::now() < end) std::this_thread::yield();
  EXPECT_EQ(shared_server().psql(waits), "0");
}

TEST(PostgresSessionTest, BothSidesWatchForTheOtherToVanish) {
  DriverBed bed{shared_server().url(), {.vanished_after = 8s}};
  BedSession session{bed};
  EXPECT_EQ(shown(session.ask(
                "SELECT current_setting('tcp_keepalives_idle'), "
                "current_setting('tcp_keepalives_interval'), current_setting('tcp_user_timeout'), "
                "current_setting('client_connection_check_interval'), "
                "current_setting('idle_session_timeout')")),
            "4|2|8000|250ms|0");
}

TEST(PostgresSessionTest, ALateAnswerEndsIt) {
  DriverBed bed{shared_server().url()};
  BedSession session{bed};
  session.next(Kind::connected);
  auto late = session.send(plain("SELECT pg_sleep(30)"), 200ms);
  auto behind = session.send(plain("SELECT 1"));
  EXPECT_EQ(error_of(get(std::move(late))).code, Errc::unknown_outcome);
  EXPECT_EQ(error_of(get(std::move(behind))).code, Errc::unknown_outcome);
  EXPECT_EQ(session.next(Kind::ended).error->code, Errc::unavailable);
  EXPECT_EQ(error_of(session.ask("SELECT 1")).code, Errc::unavailable);
}

}  // namespace
}  // namespace holdfast::postgres
