// TLS: whom we talk to is who was meant.

#include <gmock/gmock.h>

#include "tests/postgres/driver_bed.h"
#include "tests/postgres/postgres_server.h"
#include "tests/redis/certificates.h"

namespace holdfast::postgres {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Kind = SessionEvent::Kind;

class PostgresTlsTest : public testing::Test {
 protected:
  static redis::Authority& authority() {
    static redis::Authority only;
    return only;
  }
  static PostgresServer& server() {
    authority().vouch_for("server", "DNS:localhost");
    static PostgresServer only{{.hba = {"hostssl all all all trust"},
                                .tls = PostgresSettings::Tls{authority().cert_file("server"),
                                                             authority().key_file("server")}}};
    return only;
  }
  static std::string url(const std::string& host, const std::string& parameters) {
    return "postgres://postgres@" + host + ':' + std::to_string(server().port()) +
           "/postgres?sslrootcert=" + authority().ca_file() + '&' + parameters;
  }
};

TEST_F(PostgresTlsTest, ACertificateOfTheHostIsAccepted) {
  DriverBed bed{url("localhost", "sslmode=verify-full")};
  EXPECT_EQ(shown(bed.ask("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")), "t");
  BedSession session{bed};
  EXPECT_EQ(shown(session.ask("LISTEN a")), "");
  server().psql("NOTIFY a, 'heard'");
  EXPECT_EQ(session.next(Kind::notified).payload, "heard");
  // More than one record of TLS's.
  EXPECT_EQ(shown(session.ask("SELECT repeat('x', 200000)")), std::string(200000, 'x'));
}

TEST_F(PostgresTlsTest, AnotherHostsCertificateIsDeniedAtOnce) {
  DriverBed bed{url("127.0.0.1", "sslmode=verify-full")};
  const Error error = error_of(bed.ask("SELECT 1"));
  EXPECT_EQ(error.code, Errc::denied);
  EXPECT_THAT(error.message,
              AllOf(HasSubstr("127.0.0.1:" + std::to_string(server().port())),
                    HasSubstr("does not match host name")));
}

TEST_F(PostgresTlsTest, AnUnknownAuthorityIsDeniedAtOnce) {
  const redis::Authority stranger;
  DriverBed bed{"postgres://postgres@localhost:" + std::to_string(server().port()) +
                "/postgres?sslmode=verify-ca&sslrootcert=" + stranger.ca_file()};
  const Error error = error_of(bed.ask("SELECT 1"));
  EXPECT_EQ(error.code, Errc::denied);
  EXPECT_THAT(error.message, HasSubstr("SSL error"));
}

TEST_F(PostgresTlsTest, WithoutTlsTheServerDenies) {
  DriverBed bed{url("localhost", "sslmode=disable")};
  const Error error = error_of(bed.ask("SELECT 1"));
  EXPECT_EQ(error.code, Errc::denied);
  EXPECT_THAT(error.message, HasSubstr("28000"));
}

}  // namespace
}  // namespace holdfast::postgres
