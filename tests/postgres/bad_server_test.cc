// Servers that are not there, are not PostgreSQL, or do not want us.

#include <gmock/gmock.h>

#include "tests/postgres/driver_bed.h"
#include "tests/postgres/shared_server.h"
#include "tests/redis/fake_server.h"

namespace holdfast::postgres {
namespace {

using namespace std::chrono_literals;
using redis::FakeServer;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using Kind = SessionEvent::Kind;

std::string url_at(std::uint16_t port) {
  return "postgres://postgres:secret@127.0.0.1:" + std::to_string(port) + "/postgres";
}

/// What both a statement and a session are told, which is the same.
Error error_at_url(const std::string& url, Duration within) {
  DriverBed bed{url};
  BedSession session{bed, within};
  const Error error = error_of(bed.ask(plain("SELECT 1"), within));
  const Error ended = *session.next(Kind::ended).error;
  EXPECT_EQ(ended.code, error.code) << ended.message;
  EXPECT_THAT(error.message, Not(HasSubstr("secret")));
  return error;
}

TEST(PostgresBadServerTest, AServerThatIsNotThereIsUnavailableInTime) {
  const std::uint16_t port = free_port();
  const Error error = error_at_url(url_at(port), 300ms);
  EXPECT_EQ(error.code, Errc::unavailable);
  EXPECT_THAT(error.message,
              AllOf(HasSubstr("PostgreSQL 127.0.0.1:" + std::to_string(port) + ": "),
                    HasSubstr("Connection refused")));
}

TEST(PostgresBadServerTest, EveryHostIsNamed) {
  const std::string one = "127.0.0.1:" + std::to_string(free_port());
  const std::string other = "127.0.0.1:" + std::to_string(free_port());
  DriverBed bed{"postgres://" + one + ',' + other};
  const Error error = error_of(bed.ask(plain("SELECT 1"), 1s));
  EXPECT_EQ(error.code, Errc::unavailable);
  EXPECT_THAT(error.message, AllOf(HasSubstr(one), HasSubstr(other)));
  EXPECT_EQ(error.nodes.size(), 2U);
}

TEST(PostgresBadServerTest, AHostNameThatDoesNotExistIsUnavailable) {
  const Error error = error_at_url("postgres://no-such-host.invalid:5432/x", 3s);
  EXPECT_EQ(error.code, Errc::unavailable);
  EXPECT_THAT(error.message, HasSubstr("no-such-host.invalid:5432"));
}

TEST(PostgresBadServerTest, AServerThatAnswersIsFoundAmongOthersThatDoNot) {
  FakeServer silent{"", ""};
  FakeServer http{"HTTP/1.1 400 Bad Request\r\n\r\n", ""};
  const std::string hosts = "no-such-host.invalid,127.0.0.1:" + std::to_string(silent.port()) +
                            ",127.0.0.1:" + std::to_string(http.port()) +
                            ",127.0.0.1:" + std::to_string(free_port()) +
                            ",localhost:" + std::to_string(shared_server().port());
  DriverBed bed{"postgres://postgres@" + hosts + "/postgres?timeout=10s"};
  EXPECT_EQ(shown(bed.ask("SELECT 1")), "1");
  BedSession session{bed};
  EXPECT_EQ(shown(session.ask("SELECT 2")), "2");
}

struct NotPostgres {
  const char* name;
  const char* greeting;
  Errc code;
  const char* cause;
};

class PostgresNotPostgresTest : public testing::TestWithParam<NotPostgres> {};

TEST_P(PostgresNotPostgresTest, IsNamedInTime) {
  FakeServer server{GetParam().greeting, GetParam().greeting};
  DriverBed bed{url_at(server.port()) + "?timeout=500ms"};
  const Error error = error_of(bed.ask(plain("SELECT 1"), 3s));
  EXPECT_EQ(error.code, GetParam().code);
  EXPECT_THAT(error.message,
              AllOf(HasSubstr("127.0.0.1:" + std::to_string(server.port()) + ": "),
                    HasSubstr(GetParam().cause)));
}

INSTANTIATE_TEST_SUITE_P(
    Servers,
    PostgresNotPostgresTest,
    testing::Values(NotPostgres{"Silent", "", Errc::unavailable, "is it a PostgreSQL server?"},
                    NotPostgres{"Http",
                                "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n",
                                Errc::corrupt,
                                "it does not answer as a PostgreSQL server does"},
                    NotPostgres{"Redis",
                                "-ERR unknown command\r\n",
                                Errc::corrupt,
                                "it does not answer as a PostgreSQL server does"}),
    [](const auto& example) { return std::string{example.param.name}; });

class PostgresRefusalTest : public testing::Test {
 protected:
  static PostgresServer& server() {
    static PostgresServer only{{.hba = {"host all locked all scram-sha-256",
                                        "host all barred all reject",
                                        "host all all all trust"}}};
    // A limit of the server's would count backends of earlier tests that are about to end.
    static const std::string made = only.psql(
        "CREATE ROLE locked LOGIN PASSWORD 'right'; CREATE ROLE app LOGIN CONNECTION LIMIT 3");
    return only;
  }
  static std::string url(const std::string& user, const std::string& database = "postgres") {
    return "postgres://" + user + '@' + server().endpoint() + '/' + database;
  }
};

TEST_F(PostgresRefusalTest, AWrongPasswordIsDeniedAtOnce) {
  const Error error = error_at_url(url("locked:secret"), kBound);
  EXPECT_EQ(error.code, Errc::denied);
  EXPECT_THAT(error.message, AllOf(HasSubstr(server().endpoint()), HasSubstr("28P01")));
  const Error missing = error_at_url(url("locked") + "?passfile=/nowhere", kBound);
  EXPECT_EQ(missing.code, Errc::denied);
  EXPECT_THAT(missing.message, HasSubstr("no password supplied"));
  DriverBed bed{url("locked:right")};
  EXPECT_EQ(shown(bed.ask("SELECT current_user")), "locked");
}

TEST_F(PostgresRefusalTest, WhoMayNotConnectIsDeniedAtOnce) {
  const Error error = error_at_url(url("barred"), kBound);
  EXPECT_EQ(error.code, Errc::denied);
  EXPECT_THAT(error.message, HasSubstr("28000"));
}

TEST_F(PostgresRefusalTest, ADatabaseThatIsNotThereIsNamedAtOnce) {
  const Error error = error_at_url(url("postgres", "elsewhere"), kBound);
  EXPECT_EQ(error.code, Errc::invalid_argument);
  EXPECT_THAT(error.message, AllOf(HasSubstr("\"elsewhere\""), HasSubstr("3D000")));
}

TEST_F(PostgresRefusalTest, TooManyConnectionsAreNamedAndWaitedFor) {
  DriverBed bed{url("app")};
  DriverBed other{url("app")};
  {
    BedSession sessions[] = {BedSession{bed}, BedSession{bed}, BedSession{bed}};
    for (BedSession& session : sessions) session.next(Kind::connected);
    const Error error = error_of(other.ask(plain("SELECT 1"), 1s));
    EXPECT_EQ(error.code, Errc::unavailable);
    EXPECT_THAT(error.message, AllOf(HasSubstr(server().endpoint()), HasSubstr("53300")));
  }
  EXPECT_EQ(other.insist("SELECT 1"), "1");
}

TEST_F(PostgresRefusalTest, AStandbyRefusesToWriteAndIsPassedOverAmongSeveral) {
  PostgresServer primary;
  PostgresServer standby = PostgresServer::replica_of(primary);
  DriverBed alone{standby.url()};
  EXPECT_EQ(shown(alone.ask("CREATE TABLE t (a int)")), "!25006");
  DriverBed either{"postgres://postgres@" + standby.endpoint() + ',' + primary.endpoint() +
                   "/postgres"};
  EXPECT_EQ(shown(either.ask("CREATE TABLE t (a int)")), "");
}

}  // namespace
}  // namespace holdfast::postgres
