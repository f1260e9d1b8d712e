// Through a pooler, where a statement may meet any backend.

#include <gmock/gmock.h>

#include "tests/postgres/driver_bed.h"
#include "tests/postgres/pgbouncer.h"
#include "tests/postgres/shared_server.h"

namespace holdfast::postgres {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Direct = PostgresPort::Direct;
using Kind = SessionEvent::Kind;

constexpr Statement kTwice{"bed_twice", "SELECT $1::int * 2"};

PgBouncer& shared_pooler() {
  static PgBouncer pooler{shared_server(), {.lines = {"default_pool_size=2"}}};
  return pooler;
}

TEST(PostgresPoolerTest, ManyStatementsAtOnceAreAnsweredAsTheyWereSent) {
  DriverBed bed{shared_pooler().url()};
  EXPECT_EQ(bed.direct(), Direct::unknown);
  std::vector<SharedCall> calls;
  for (int i = 0; i < 1000; ++i) calls.push_back(share({&kTwice, {std::to_string(i)}}));
  int number = 0;
  for (auto& answer : bed.send_all(calls)) {
    EXPECT_EQ(shown(get(std::move(answer))), std::to_string(2 * number++));
  }
  EXPECT_EQ(bed.direct(), Direct::no);
  // Nothing is left on backends that others use.
  const std::string kept = "SELECT count(*) FROM pg_prepared_statements";
  for (int i = 0; i < 4; ++i) EXPECT_EQ(shown(bed.ask(kept.c_str())), "0");
}

TEST(PostgresPoolerTest, SessionsAreRefusedWithTheRemedy) {
  DriverBed bed{shared_pooler().url()};
  // By the session that finds out, and by the next.
  for (int i = 0; i < 2; ++i) {
    BedSession session{bed};
    const Error error = *session.next(Kind::ended).error;
    EXPECT_EQ(error.code, Errc::unsupported);
    EXPECT_THAT(error.message, AllOf(HasSubstr(shared_pooler().endpoint()), HasSubstr("pooler")));
    EXPECT_THAT(error.remedy_text, HasSubstr("listen="));
  }
}

TEST(PostgresPoolerTest, SessionsGoToTheServerItselfWhereItIsKnown) {
  DriverBed bed{shared_pooler().url() + "?listen=postgres%3A%2F%2F127.0.0.1%3A" +
                std::to_string(shared_server().port())};
  EXPECT_EQ(shown(bed.ask("SELECT 1")), "1");
  EXPECT_EQ(bed.direct(), Direct::yes);
  BedSession session{bed};
  EXPECT_EQ(shown(session.ask("LISTEN pooled")), "");
  EXPECT_EQ(shown(bed.ask("NOTIFY pooled, 'heard'")), "");
  EXPECT_EQ(session.next(Kind::notified).payload, "heard");
}

TEST(PostgresPoolerTest, APoolerThatIsCalledTheServerItselfIsNoticed) {
  const std::string port = std::to_string(shared_pooler().port());
  DriverBed bed{shared_pooler().url() + "?listen=postgres%3A%2F%2F127.0.0.1%3A" + port};
  BedSession session{bed};
  EXPECT_EQ(session.next(Kind::ended).error->code, Errc::unsupported);
  EXPECT_EQ(shown(bed.ask("SELECT 1")), "1");
  EXPECT_EQ(bed.direct(), Direct::no);
}

TEST(PostgresPoolerTest, APoolerThatGivesSessionsIsTrustedByTheUsersWord) {
  PgBouncer pooler{shared_server(), {.pool_mode = "session"}};
  DriverBed bed{pooler.url() + "?pooler=session"};
  EXPECT_EQ(shown(bed.ask("SELECT 1")), "1");
  EXPECT_EQ(bed.direct(), Direct::yes);
  BedSession session{bed};
  const std::string backend = shown(session.ask("SELECT pg_backend_pid()"));
  EXPECT_EQ(backend, std::to_string(session.backend()));
}

TEST(PostgresPoolerTest, AServerThatGoesAwayBehindItComesBack) {
  PostgresServer server;
  PgBouncer pooler{server};
  DriverBed bed{pooler.url()};
  EXPECT_EQ(shown(bed.ask("SELECT 1")), "1");
  server.kill();
  const auto away = bed.ask(plain("SELECT 2"), std::chrono::seconds{1});
  EXPECT_FALSE(away && std::holds_alternative<Rows>(*away));
  server.start();
  const TimePoint end = BootClock::now() + kBound;
  while (bed.insist("SELECT 3") != "3" && BootClock::now() < end) std::this_thread::yield();
  EXPECT_EQ(bed.insist("SELECT 3"), "3");
}

}  // namespace
}  // namespace holdfast::postgres
