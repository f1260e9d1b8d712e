// Servers that die, hang, come back, or are not there.

#include <gtest/gtest.h>

#include "tests/ports/redis_process.h"
#include "tests/redis/driver_bed.h"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;
using ports::free_port;
using ports::RedisProcess;

class InterruptionTest : public testing::Test {
 protected:
  static Errc code_of(const Result<Reply>& reply) {
    return reply ? Errc::internal : reply.error().code;
  }

  const std::uint16_t port_{free_port()};
  RedisProcess server_{{"--port", std::to_string(port_), "--enable-debug-command", "yes"}};
  const RedisTarget target_{.host = "127.0.0.1", .port = port_};
};

TEST_F(InterruptionTest, WithoutAServerRequestsAreUnavailableByTheirDeadline) {
  server_.kill();
  DriverBed bed{target_};
  const auto reply = get(bed.echo("x", 100ms));
  ASSERT_EQ(code_of(reply), Errc::unavailable);
  EXPECT_EQ(reply.error().message,
            "Redis 127.0.0.1:" + std::to_string(port_) + ": connection refused");
}

TEST_F(InterruptionTest, ARequestWaitsForAServerThatIsStarting) {
  server_.kill();
  DriverBed bed{target_};
  auto answer = bed.echo("patient");
  server_.restart();
  EXPECT_EQ(get(std::move(answer)).value(), Reply::of_text("patient"));
}

TEST_F(InterruptionTest, WhatAKilledServerDidNotAnswerHasAnUnknownOutcome) {
  DriverBed bed{target_};
  ASSERT_TRUE(get(bed.echo("connected")));
  auto answer = bed.command({"BLPOP", "nothing", "0"});
  // Answered after the request before it has reached the server.
  const auto blocked = [&] {
    DriverBed other{target_};
    const auto clients = get(other.command({"INFO", "clients"}));
    return clients.value().text.find("blocked_clients:1") != std::string::npos;
  };
  ASSERT_TRUE(eventually(blocked));
  server_.kill();
  const auto reply = get(std::move(answer));
  ASSERT_EQ(code_of(reply), Errc::unknown_outcome);
  EXPECT_NE(reply.error().message.find("127.0.0.1:"), std::string::npos);
}

// The system refuses what is written to a Unix socket that the other side has closed.
TEST_F(InterruptionTest, WhatADeadConnectionRefusedHasNotLeft) {
  DriverBed bed{{.socket_path = server_.socket()}};
  ASSERT_TRUE(get(bed.echo("connected")));
  std::vector<DriverBed::Answer> answers;
  bed.on_env([&] {
    // Before the loop can notice.
    server_.kill();
    answers = bed.echo_many_now(2, 100ms);
  });
  for (auto& answer : answers) EXPECT_EQ(code_of(get(std::move(answer))), Errc::unavailable);
}

TEST_F(InterruptionTest, WhatADeadConnectionRefusedGoesWithTheNext) {
  DriverBed bed{{.socket_path = server_.socket()}};
  ASSERT_TRUE(get(bed.echo("connected")));
  std::vector<DriverBed::Answer> answers;
  bed.on_env([&] {
    server_.restart();
    answers = bed.echo_many_now(2, kBound);
  });
  EXPECT_EQ(get(std::move(answers.at(0))).value(), Reply::of_text("0"));
  EXPECT_EQ(get(std::move(answers.at(1))).value(), Reply::of_text("1"));
}

TEST_F(InterruptionTest, AfterARestartRequestsAreAnsweredAgain) {
  DriverBed bed{target_};
  ASSERT_TRUE(get(bed.echo("before")));
  server_.restart();
  // The first may still leave on the connection that has died.
  Result<Reply> reply = get(bed.echo("after"));
  if (!reply) {
    EXPECT_EQ(code_of(reply), Errc::unknown_outcome);
    reply = get(bed.echo("after"));
  }
  EXPECT_EQ(reply.value(), Reply::of_text("after"));
  EXPECT_EQ(bed.stats().connections, 2U);
}

TEST_F(InterruptionTest, AHungServerCostsItsRequestsAndNoLaterOnes) {
  DriverBed bed{target_, {.silence = kBound}};
  ASSERT_TRUE(get(bed.echo("connected")));
  server_.pause();
  auto patient = bed.echo("patient");
  const TimePoint sent = bed.env().now();
  EXPECT_EQ(code_of(get(bed.echo("x", 50ms))), Errc::unknown_outcome);
  EXPECT_GE(bed.env().now() - sent, 50ms);
  // Its deadline is far, and it is not the oldest that is overdue.
  auto other = bed.echo("y", 60ms);
  EXPECT_EQ(code_of(get(std::move(other))), Errc::unknown_outcome);
  server_.resume();
  EXPECT_EQ(get(std::move(patient)).value(), Reply::of_text("patient"));
  EXPECT_EQ(get(bed.echo("z")).value(), Reply::of_text("z"));
}

// Others wait on the same connection, and more patiently.
TEST_F(InterruptionTest, AShortDeadlineDoesNotBreakAConnectionThatIsAlive) {
  DriverBed bed{target_, {.silence = kBound}};
  ASSERT_TRUE(get(bed.echo("connected")));
  auto slow = bed.command({"DEBUG", "SLEEP", "0.2"}, 20ms);
  auto patient = bed.echo("patient");
  EXPECT_EQ(code_of(get(std::move(slow))), Errc::unknown_outcome);
  EXPECT_EQ(get(std::move(patient)).value(), Reply::of_text("patient"));
  EXPECT_EQ(bed.stats().connections, 1U);
  EXPECT_EQ(bed.stats().interruptions, 0U);
}

TEST_F(InterruptionTest, AConnectionThatStaysSilentWhileARequestIsOverdueIsGivenUp) {
  DriverBed bed{target_, {.silence = 100ms}};
  ASSERT_TRUE(get(bed.echo("connected")));
  server_.pause();
  auto oldest = bed.echo("oldest", 50ms);
  auto later = bed.echo("later");
  EXPECT_EQ(code_of(get(std::move(oldest))), Errc::unknown_outcome);
  EXPECT_EQ(code_of(get(std::move(later))), Errc::unknown_outcome);
  // It never left: there is no connection that is ready.
  EXPECT_EQ(code_of(get(bed.echo("next", 50ms))), Errc::unavailable);
  auto patient = bed.echo("patient");
  server_.resume();
  EXPECT_EQ(get(std::move(patient)).value(), Reply::of_text("patient"));
  EXPECT_EQ(bed.stats().connections, 2U);
}

TEST_F(InterruptionTest, AHungServerIsNoConnection) {
  server_.pause();
  RedisTarget target = target_;
  target.connect_timeout = 50ms;
  DriverBed bed{target};
  const auto reply = get(bed.echo("x", 500ms));
  ASSERT_EQ(code_of(reply), Errc::unavailable);
  EXPECT_NE(reply.error().message.find("no answer to the greeting in time"), std::string::npos);
  server_.resume();
  EXPECT_EQ(get(bed.echo("y")).value(), Reply::of_text("y"));
}

TEST_F(InterruptionTest, AHostWithoutAnAddressIsUnavailable) {
  DriverBed bed{{.host = "no-such-host.invalid"}};
  const auto reply = get(bed.echo("x", 2s));
  ASSERT_EQ(code_of(reply), Errc::unavailable);
  EXPECT_NE(reply.error().message.find("no-such-host.invalid:6379"), std::string::npos);
}

TEST_F(InterruptionTest, ASocketThatIsNotThereIsUnavailable) {
  DriverBed bed{{.socket_path = "/nonexistent/redis.sock"}};
  const auto reply = get(bed.echo("x", 100ms));
  ASSERT_EQ(code_of(reply), Errc::unavailable);
  EXPECT_EQ(reply.error().message, "Redis /nonexistent/redis.sock: no such file or directory");
}

}  // namespace
}  // namespace holdfast::redis
