// A server that goes under connections, and comes back.

#include <gmock/gmock.h>

#include <functional>
#include <map>
#include <set>
#include <sstream>

#include "tests/postgres/driver_bed.h"
#include "tests/postgres/postgres_server.h"
#include "tests/servers/fault_proxy.h"

namespace holdfast::postgres {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using Kind = SessionEvent::Kind;

class PostgresInterruptionTest : public testing::Test {
 protected:
  static PostgresServer& server() {
    static PostgresServer only;
    return only;
  }

  void SetUp() override {
    if (!server().is_running()) server().start();
    EXPECT_EQ(shown(session_.ask("SELECT 1")), "1");
    EXPECT_EQ(bed_.insist("SELECT 1"), "1");
  }

  DriverBed bed_{server().url(), {.silence = 100ms}};
  BedSession session_{bed_};
};

TEST_F(PostgresInterruptionTest, ATerminatedBackendEndsItsSessionWithTheServersWords) {
  server().psql("SELECT pg_terminate_backend(" + std::to_string(session_.backend()) + ')');
  const Error why = *session_.next(Kind::ended).error;
  EXPECT_EQ(why.code, Errc::unavailable);
  EXPECT_THAT(why.message, AllOf(HasSubstr(server().endpoint()), HasSubstr("57P01")));
}

TEST_F(PostgresInterruptionTest, WhatATerminatedBackendRanHasAnUnknownOutcome) {
  auto running = session_.send(plain("SELECT pg_sleep(50)"));
  auto behind = session_.send(plain("SELECT 1"));
  server().psql("SELECT pg_terminate_backend(" + std::to_string(session_.backend()) + ')');
  const Error error = error_of(get(std::move(running)));
  EXPECT_EQ(error.code, Errc::unknown_outcome);
  EXPECT_THAT(error.message, HasSubstr("57P01"));
  EXPECT_EQ(error_of(get(std::move(behind))).code, Errc::unknown_outcome);
  session_.next(Kind::ended);
}

TEST_F(PostgresInterruptionTest, ARestartEndsSessionsAndStatementsGoOn) {
  server().stop();
  EXPECT_THAT(session_.next(Kind::ended).error->message, HasSubstr("57P01"));
  auto waits = bed_.send(plain("SELECT 2"));
  server().start();
  EXPECT_EQ(shown(get(std::move(waits))), "2");
  BedSession next{bed_};
  EXPECT_EQ(shown(next.ask("SELECT 3")), "3");
}

TEST_F(PostgresInterruptionTest, AKilledServerEndsSessionsAndStatementsGoOn) {
  server().kill();
  EXPECT_EQ(session_.next(Kind::ended).error->code, Errc::unavailable);
  const Error error = error_of(bed_.ask(plain("SELECT 1"), 300ms));
  EXPECT_EQ(error.code, Errc::unavailable);
  EXPECT_THAT(error.message, HasSubstr(server().endpoint()));
  server().start();
  EXPECT_EQ(bed_.insist("SELECT 2"), "2");
}

TEST_F(PostgresInterruptionTest, APausedServerLeavesAnUnknownOutcomeInTime) {
  server().pause();
  const Error error = error_of(bed_.ask(plain("SELECT 1"), 300ms));
  EXPECT_EQ(error.code, Errc::unknown_outcome);
  const Error silent = error_of(session_.ask(plain("SELECT 1"), 300ms));
  EXPECT_EQ(silent.code, Errc::unknown_outcome);
  session_.next(Kind::ended);
  server().resume();
  EXPECT_EQ(bed_.insist("SELECT 2"), "2");
}

TEST_F(PostgresInterruptionTest, WhatIsUnderWayWhenTheNetworkBreaksHasAnUnknownOutcome) {
  servers::FaultProxy proxy{server().port()};
  const std::string url = "postgres://postgres@127.0.0.1:" + std::to_string(proxy.port());
  DriverBed bed{url + "/postgres", {.silence = 100ms}};
  EXPECT_EQ(shown(bed.ask("SELECT 1")), "1");
  BedSession session{bed};
  EXPECT_EQ(shown(session.ask("SELECT 1")), "1");
  proxy.hold_replies();
  auto lost = bed.send(plain("SELECT 2"));
  auto lost_too = session.send(plain("SELECT 2"));
  proxy.heal();
  EXPECT_EQ(error_of(get(std::move(lost))).code, Errc::unknown_outcome);
  EXPECT_EQ(error_of(get(std::move(lost_too))).code, Errc::unknown_outcome);
  session.next(Kind::ended);
  EXPECT_EQ(bed.insist("SELECT 3"), "3");
  EXPECT_EQ(shown(session.ask("SELECT 3")), "?unavailable");
}

TEST_F(PostgresInterruptionTest, ABlackHoleIsLeftForANewConnection) {
  servers::FaultProxy proxy{server().port()};
  const std::string url = "postgres://postgres@127.0.0.1:" + std::to_string(proxy.port());
  DriverBed bed{url + "/postgres?timeout=500ms", {.silence = 100ms}};
  EXPECT_EQ(shown(bed.ask("SELECT 1")), "1");
  proxy.hold_replies();
  EXPECT_EQ(error_of(bed.ask(plain("SELECT 2"), 300ms)).code, Errc::unknown_outcome);
  // The new connection is not greeted either.
  const Error error = error_of(bed.ask(plain("SELECT 3"), 1s));
  EXPECT_EQ(error.code, Errc::unavailable);
  EXPECT_THAT(error.message, HasSubstr("no answer to the greeting in time"));
  proxy.heal();
  EXPECT_EQ(bed.insist("SELECT 4"), "4");
}

// What was answered has run, what is unavailable has not, whatever befell the server in between.
TEST_F(PostgresInterruptionTest, AnswersTellWhatHasRun) {
  static constexpr Statement kAdd{"bed_told", "INSERT INTO told VALUES ($1::int) RETURNING a"};
  server().psql("CREATE TABLE told (a int)");
  const std::function<void()> blows[] = {
      [] {},
      [] {
        server().psql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name = 'holdfast'");
      },
      [] {
        server().kill();
        server().start();
      },
      [] { server().restart(); }};
  int number = 0;
  std::map<std::string, std::set<std::string>> told;
  for (const auto& blow : blows) {
    std::vector<SharedCall> calls;
    const int first = number;
    for (; number < first + 1000; ++number) {
      calls.push_back(share({&kAdd, {std::to_string(number)}}));
    }
    auto answers = bed_.send_all(calls, 20s);
    blow();
    for (int i = first; i < number; ++i) {
      const auto answer = get(std::move(answers[static_cast<std::size_t>(i - first)]));
      told[answer ? "run" : std::string{to_string(answer.error().code)}].insert(std::to_string(i));
    }
  }
  std::istringstream rows{server().psql("TABLE told")};
  std::multiset<std::string> run;
  for (std::string row; rows >> row;) run.insert(row);
  for (const std::string& one : told["run"]) EXPECT_EQ(run.count(one), 1U) << one;
  for (const std::string& one : told["unavailable"]) EXPECT_EQ(run.count(one), 0U) << one;
  for (const std::string& one : told["unknown_outcome"]) EXPECT_LE(run.count(one), 1U) << one;
  EXPECT_GE(told["run"].size(), 1000U);
  EXPECT_EQ(told["run"].size() + told["unavailable"].size() + told["unknown_outcome"].size(),
            static_cast<std::size_t>(number));
}

TEST_F(PostgresInterruptionTest, NobodyIsCalledBackAfterTheEnd) {
  auto dropped = bed_.send(plain("SELECT pg_sleep(50)"));
  bed_.on_env([&] { bed_.driver().reset(); });
  ASSERT_EQ(dropped.wait_for(kBound), std::future_status::ready);
  EXPECT_THROW(dropped.get(), std::future_error);
  EXPECT_EQ(shown(session_.ask("SELECT 1")), "1");
}

}  // namespace
}  // namespace holdfast::postgres
