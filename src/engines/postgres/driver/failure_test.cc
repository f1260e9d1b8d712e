#include "engines/postgres/driver/failure.h"

#include <gtest/gtest.h>

namespace holdfast::postgres {
namespace {

using Cause = Failure::Cause;

struct Example {
  const char* said;
  Errc code;
  Cause cause;
  const char* what;
};

TEST(PostgresFailureTest, WhatLibpqSaysIsUnderstood) {
  const Example examples[] = {
      {"connection to server at \"h\" (1.2.3.4), port 1 failed: Connection refused\n"
       "\tIs the server running on that host and accepting TCP/IP connections?\n",
       Errc::unavailable,
       Cause::passing,
       "Connection refused"},
      {"connection to server at \"h\", port 1 failed: FATAL:  28P01: password authentication "
       "failed "
       "for user \"x\"\nLOCATION:  auth_failed, auth.c:323\n",
       Errc::denied,
       Cause::lasting,
       "password authentication failed for user \"x\" (SQLSTATE 28P01)"},
      {"connection to server at \"h\", port 1 failed: SCHWER:  3D000: Datenbank fehlt\n",
       Errc::invalid_argument,
       Cause::lasting,
       "Datenbank fehlt (SQLSTATE 3D000)"},
      {"connection to server at \"h\", port 1 failed: FATAL:  53300: sorry, too many clients\n",
       Errc::unavailable,
       Cause::passing,
       "sorry, too many clients (SQLSTATE 53300)"},
      {"FATAL:  57P01: terminating connection due to administrator command\nLOCATION:  a, b.c:1\n",
       Errc::unavailable,
       Cause::passing,
       "terminating connection due to administrator command (SQLSTATE 57P01)"},
      {"connection to server at \"h\", port 1 failed: server certificate for \"a\" does not match "
       "host name \"b\"\n",
       Errc::denied,
       Cause::lasting,
       "server certificate for \"a\" does not match host name \"b\""},
      {"connection to server at \"h\", port 1 failed: received invalid response to SSL "
       "negotiation: "
       "H\n",
       Errc::corrupt,
       Cause::lasting,
       "it does not answer as a PostgreSQL server does"},
      {"connection to server at \"h\", port 1 failed: SSL error: EVP lib\n",
       Errc::denied,
       Cause::lasting,
       "SSL error: EVP lib"},
      {"SSL error: unexpected eof while reading\n",
       Errc::unavailable,
       Cause::passing,
       "SSL error: unexpected eof while reading"},
      {"", Errc::unavailable, Cause::passing, "it closed the connection"},
  };
  for (const Example& example : examples) {
    const Failure failure = failure_of("h:1", example.said);
    EXPECT_EQ(failure.error.code, example.code) << example.said;
    EXPECT_EQ(failure.cause, example.cause) << example.said;
    EXPECT_EQ(failure.error.message, std::string{"PostgreSQL h:1: "} + example.what);
  }
}

TEST(PostgresFailureTest, SeveralHostsAgreeOrAreUnavailable) {
  const Failure away = failure_of("a:1", "Connection refused");
  const Failure wrong = failure_of("b:1", "FATAL:  28P01: no\n");
  EXPECT_EQ(all_of({wrong}).error.code, Errc::denied);
  EXPECT_EQ(all_of({wrong, wrong}).error.code, Errc::denied);
  EXPECT_EQ(all_of({wrong, wrong}).cause, Cause::lasting);
  const Failure both = all_of({away, wrong});
  EXPECT_EQ(both.error.code, Errc::unavailable);
  EXPECT_EQ(both.cause, Cause::passing);
  EXPECT_EQ(both.error.message,
            "PostgreSQL a:1: Connection refused; PostgreSQL b:1: no (SQLSTATE 28P01)");
  ASSERT_EQ(both.error.nodes.size(), 2U);
  EXPECT_EQ(both.error.nodes[1].node, "b:1");
}

TEST(PostgresFailureTest, StrangersAreKnownByTheirFirstByte) {
  for (const char first : {'S', 'N', 'R', 'E'}) EXPECT_TRUE(begins_as_postgres(first));
  for (const char first : {'H', '-', '+', '\0'}) EXPECT_FALSE(begins_as_postgres(first));
}

}  // namespace
}  // namespace holdfast::postgres
