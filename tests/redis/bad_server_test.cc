// Servers that answer what no Redis server would.

#include <gtest/gtest.h>

#include "tests/redis/driver_bed.h"
#include "tests/redis/fake_server.h"

namespace holdfast::redis {
namespace {

Error error_of(const Result<Reply>& reply) {
  return reply ? Error{Errc::internal, "answered"} : reply.error();
}

RedisTarget at(const FakeServer& server) { return {.host = "127.0.0.1", .port = server.port()}; }

/// A whole greeting: the only reply expected of a server without password and database.
constexpr const char* kGreeting = "+OK\r\n";

TEST(BadServerTest, AnotherProtocolIsNamedAtOnce) {
  FakeServer server{"HTTP/1.1 400 Bad Request\r\n\r\n", ""};
  DriverBed bed{at(server)};
  const Error error = error_of(get(bed.echo("x")));
  EXPECT_EQ(error.code, Errc::unavailable);
  EXPECT_EQ(
      error.message,
      "Redis 127.0.0.1:" + std::to_string(server.port()) + ": does not speak the Redis protocol");
}

struct BadAnswer {
  const char* name;
  std::string bytes;
  const char* complaint;
};

class BadAnswerTest : public testing::TestWithParam<BadAnswer> {};

// The request left, so that its outcome is unknown; the connection is of no use any more.
TEST_P(BadAnswerTest, BreaksTheConnection) {
  FakeServer server{kGreeting, GetParam().bytes};
  DriverBed bed{at(server)};
  const Error error = error_of(get(bed.echo("x")));
  EXPECT_EQ(error.code, Errc::unknown_outcome);
  EXPECT_NE(error.message.find(GetParam().complaint), std::string::npos) << error.message;
  EXPECT_EQ(error_of(get(bed.echo("y"))).code, Errc::unknown_outcome);
  EXPECT_EQ(bed.stats().connections, 2U);
}

std::string repeated(const std::string& part, int times) {
  std::string whole;
  for (int i = 0; i < times; ++i) whole += part;
  return whole;
}

INSTANTIATE_TEST_SUITE_P(
    Answers,
    BadAnswerTest,
    testing::Values(BadAnswer{"garbage", "garbage\r\n", "does not speak the Redis protocol"},
                    BadAnswer{"length", "$-7\r\n", "does not speak the Redis protocol"},
                    BadAnswer{"resp3", "%1\r\n+a\r\n+b\r\n", "does not speak the Redis protocol"},
                    BadAnswer{"too_deep", repeated("*1\r\n", 20), "nested more than 7 deep"},
                    BadAnswer{"too_large",
                              "$2000000000\r\n" + std::string((std::size_t{64} << 20) + 1, 'x'),
                              "more than 64 MiB"},
                    BadAnswer{"too_many_parts",
                              "*2000000000\r\n" + repeated(":1\r\n", 1 << 20),
                              "more than a million parts"}),
    [](const auto& answer) { return answer.param.name; });

TEST(BadServerTest, AReplyNobodyAskedForBreaksTheConnection) {
  FakeServer server{kGreeting, "+one\r\n+two\r\n"};
  DriverBed bed{at(server)};
  EXPECT_EQ(get(bed.echo("x")).value(), Reply::of_text("one"));
  EXPECT_EQ(get(bed.echo("y")).value(), Reply::of_text("one"));
  EXPECT_EQ(bed.stats().connections, 2U);
}

TEST(BadServerTest, ASubscriptionIsMadeAgain) {
  FakeServer server{kGreeting, "garbage\r\n"};
  DriverBed bed{at(server)};
  Ear ear;
  bed.on_env([&] { bed.driver()->subscribe("c", ear.on_heard()); });
  ASSERT_TRUE(eventually([&] { return bed.stats().subscription_connections >= 2; }));
}

}  // namespace
}  // namespace holdfast::redis
