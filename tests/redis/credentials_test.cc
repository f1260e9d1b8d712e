// Passwords, users and databases.

#include <gtest/gtest.h>

#include "tests/ports/redis_process.h"
#include "tests/redis/driver_bed.h"

namespace holdfast::redis {
namespace {

using ports::RedisProcess;

Error error_of(const Result<Reply>& reply) {
  return reply ? Error{Errc::internal, "answered"} : reply.error();
}

class CredentialsTest : public testing::Test {
 protected:
  RedisTarget target(const std::string& user, const std::string& password) const {
    return {.socket_path = server_.socket(), .user = user, .password = password};
  }

  RedisProcess server_{
      {"--requirepass", "open sesame", "--user", "app", "on", ">let-me-in", "~hf:*", "+@all"}};
};

TEST_F(CredentialsTest, ThePasswordOpensTheServer) {
  DriverBed bed{target("", "open sesame")};
  EXPECT_TRUE(get(bed.echo("x")));
}

TEST_F(CredentialsTest, AUserHasItsOwnPasswordAndItsOwnKeys) {
  DriverBed bed{target("app", "let-me-in")};
  EXPECT_EQ(get(bed.command({"ACL", "WHOAMI"})).value(), Reply::of_text("app"));
  EXPECT_TRUE(get(bed.command({"SET", "hf:a", "1"})).value() == Reply::of_text("OK"));
  EXPECT_TRUE(get(bed.command({"SET", "other", "1"})).value().text.starts_with("NOPERM"));
}

// They would otherwise wait until their deadlines, which are far.
TEST_F(CredentialsTest, WrongOnesAreDeniedAtOnceAndNotQuoted) {
  DriverBed bed{target("app", "guessed")};
  const Error error = error_of(get(bed.echo("x")));
  EXPECT_EQ(error.code, Errc::denied);
  EXPECT_TRUE(error.message.starts_with("Redis " + server_.socket() + ": WRONGPASS"))
      << error.message;
  EXPECT_EQ(error.message.find("guessed"), std::string::npos);
}

TEST_F(CredentialsTest, MissingOnesAreDenied) {
  DriverBed bed{target("", "")};
  const Error error = error_of(get(bed.echo("x")));
  EXPECT_EQ(error.code, Errc::denied);
  EXPECT_NE(error.message.find("NOAUTH"), std::string::npos) << error.message;
}

TEST_F(CredentialsTest, LaterRequestsTryAgain) {
  DriverBed bed{target("app", "rotated")};
  EXPECT_EQ(error_of(get(bed.echo("x"))).code, Errc::denied);
  DriverBed admin{target("", "open sesame")};
  ASSERT_TRUE(get(admin.command({"ACL", "SETUSER", "app", ">rotated"})));
  EXPECT_EQ(get(bed.echo("x")).value(), Reply::of_text("x"));
}

TEST(DatabaseTest, RequestsAreForTheDatabaseOfTheTarget) {
  RedisProcess server;
  DriverBed third{{.socket_path = server.socket(), .database = 3}};
  DriverBed first{{.socket_path = server.socket()}};
  ASSERT_TRUE(get(third.command({"SET", "k", "third"})));
  EXPECT_EQ(get(first.command({"GET", "k"})).value(), Reply{});
  EXPECT_EQ(get(third.command({"GET", "k"})).value(), Reply::of_text("third"));
}

TEST(DatabaseTest, OneThatDoesNotExistIsRefusedAtOnce) {
  RedisProcess server;
  DriverBed bed{{.socket_path = server.socket(), .database = 99}};
  const Error error = error_of(get(bed.echo("x")));
  EXPECT_EQ(error.code, Errc::invalid_argument);
  EXPECT_NE(error.message.find("database 99"), std::string::npos) << error.message;
}

TEST(FullServerTest, ARequestWaitsUntilThereIsRoom) {
  RedisProcess server;
  auto first = std::make_unique<DriverBed>(RedisTarget{.socket_path = server.socket()});
  ASSERT_TRUE(get(first->command({"CONFIG", "SET", "maxclients", "1"})));
  DriverBed second{{.socket_path = server.socket()}};
  const Error error = error_of(get(second.echo("x", std::chrono::milliseconds{100})));
  EXPECT_EQ(error.code, Errc::unavailable);
  EXPECT_NE(error.message.find("max number of clients"), std::string::npos) << error.message;
  auto patient = second.echo("patient");
  first.reset();
  EXPECT_EQ(get(std::move(patient)).value(), Reply::of_text("patient"));
}

}  // namespace
}  // namespace holdfast::redis
