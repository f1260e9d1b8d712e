// Requests and answers over a connection that works.

#include <gtest/gtest.h>

#include "tests/ports/redis_process.h"
#include "tests/redis/driver_bed.h"

namespace holdfast::redis {
namespace {

using ports::free_port;
using ports::RedisProcess;

RedisTarget at_socket(const RedisProcess& server) { return {.socket_path = server.socket()}; }

class RequestTest : public testing::Test {
 protected:
  RedisProcess server_;
  DriverBed bed_{at_socket(server_)};
};

TEST_F(RequestTest, AnswersAreTheAnswersToTheirRequests) {
  EXPECT_EQ(get(bed_.echo("hello")).value(), Reply::of_text("hello"));
  EXPECT_EQ(get(bed_.command({"SET", "k", "v"})).value(), Reply::of_text("OK"));
  EXPECT_EQ(get(bed_.command({"GET", "k"})).value(), Reply::of_text("v"));
  EXPECT_EQ(get(bed_.command({"GET", "absent"})).value(), Reply{});
  EXPECT_EQ(get(bed_.command({"INCR", "n"})).value(), Reply::of_integer(1));
  EXPECT_EQ(get(bed_.command({"INCR", "k"})).value().kind, Reply::Kind::error);
}

TEST(RequestOverTcpTest, AnswersComeToo) {
  const std::uint16_t port = free_port();
  RedisProcess server{{"--port", std::to_string(port)}};
  for (const char* host : {"127.0.0.1", "localhost"}) {
    DriverBed bed{{.host = host, .port = port}};
    EXPECT_EQ(get(bed.echo("hello")).value(), Reply::of_text("hello")) << host;
  }
}

TEST_F(RequestTest, WhatIsSentInOneTurnLeavesInOneWrite) {
  ASSERT_TRUE(get(bed_.echo("connected")));
  const auto before = bed_.stats();
  auto answers = bed_.echo_many(1000);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(get(std::move(answers[i])).value(), Reply::of_text(std::to_string(i)));
  }
  const auto after = bed_.stats();
  EXPECT_EQ(after.requests - before.requests, 1000U);
  EXPECT_EQ(after.writes - before.writes, 1U);
}

TEST_F(RequestTest, BinaryAndLargeValuesComeBackWhole) {
  std::string large(3'000'000, 'x');
  large[5] = '\0';
  large[6] = '\r';
  large[7] = '\n';
  EXPECT_EQ(get(bed_.echo(large)).value(), Reply::of_text(large));
  EXPECT_EQ(get(bed_.echo("")).value(), Reply::of_text(""));
}

TEST_F(RequestTest, AScriptTheServerForgotIsSentAgain) {
  ASSERT_TRUE(get(bed_.echo("known")));
  EXPECT_EQ(bed_.stats().scripts_resent, 0U);
  ASSERT_TRUE(get(bed_.command({"SCRIPT", "FLUSH", "SYNC"})));
  auto answers = bed_.echo_many(50);
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(get(std::move(answers[i])).value(), Reply::of_text(std::to_string(i)));
  }
  // All of them left before the first was answered.
  EXPECT_EQ(bed_.stats().scripts_resent, 50U);
  ASSERT_TRUE(get(bed_.echo("known again")));
  EXPECT_EQ(bed_.stats().scripts_resent, 50U);
}

constexpr Script kPushNew{"push new", "return redis.call('RPUSH', 'order', 'first')"};
constexpr Script kPushKnown{"push known", "return redis.call('RPUSH', 'order', 'second')"};

// A release that overtakes the refresh sent before it would leave the lock taken.
TEST_F(RequestTest, AScriptTheServerDoesNotKnowIsNotOvertakenByOneItKnows) {
  ASSERT_TRUE(get(bed_.command({"SCRIPT", "LOAD", std::string{kPushKnown.source}})));
  std::promise<void> done;
  auto both = done.get_future();
  bed_.on_env([&] {
    const TimePoint answer_by = bed_.env().now() + kBound;
    bed_.driver()->send(
        share({.script = &kPushNew, .keys = {}, .args = {}}), answer_by, [](auto) {});
    bed_.driver()->send(share({.script = &kPushKnown, .keys = {}, .args = {}}),
                        answer_by,
                        [&](auto) { done.set_value(); });
  });
  get(std::move(both));
  EXPECT_EQ(get(bed_.command({"LINDEX", "order", "0"})).value(), Reply::of_text("first"));
  EXPECT_EQ(get(bed_.command({"LINDEX", "order", "1"})).value(), Reply::of_text("second"));
}

// Each answer sends the next request, from within the loop that hands answers over.
struct Chain {
  RedisDriver& driver;
  TimePoint answer_by;
  int left;
  std::promise<int> done;

  void go_on() {
    if (left-- == 0) return done.set_value(0);
    const SharedCall call = share({.script = &kEcho, .keys = {}, .args = {"x"}});
    driver.send(call, answer_by, [this](Result<Reply> reply) {
      if (!reply) return done.set_value(-1);
      go_on();
    });
  }
};

TEST_F(RequestTest, AnAnswerMaySendTheNextRequest) {
  Chain chain{*bed_.driver(), bed_.env().now() + kBound, 500, {}};
  auto done = chain.done.get_future();
  bed_.on_env([&] { chain.go_on(); });
  EXPECT_EQ(get(std::move(done)), 0);
}

Task<void> eval_and_tell(RedisPort& port, TimePoint answer_by, std::promise<Result<Reply>> told) {
  const SharedCall call = share({.script = &kEcho, .keys = {}, .args = {"awaited"}});
  auto reply = co_await port.eval(call, answer_by);
  told.set_value(std::move(reply));
}

TEST_F(RequestTest, AnswersCanBeAwaited) {
  std::promise<Result<Reply>> told;
  auto reply = told.get_future();
  bed_.env().spawn(eval_and_tell(*bed_.driver(), bed_.env().now() + kBound, std::move(told)));
  EXPECT_EQ(get(std::move(reply)).value(), Reply::of_text("awaited"));
}

TEST_F(RequestTest, TheServerKnowsTheConnectionByItsName) {
  const auto name = get(bed_.command({"CLIENT", "GETNAME"}));
  EXPECT_EQ(name.value(), Reply::of_text("holdfast"));
}

TEST_F(RequestTest, NothingIsAnsweredInsideSend) {
  ASSERT_TRUE(get(bed_.echo("connected")));
  bool inside = false;
  bool early = false;
  std::promise<void> answered;
  bed_.on_env([&] {
    inside = true;
    const SharedCall call = share({.script = &kEcho, .keys = {}, .args = {"x"}});
    // A deadline that has passed is the shortest way to an answer.
    bed_.driver()->send(call, bed_.env().now(), [&](const Result<Reply>&) {
      early = inside;
      answered.set_value();
    });
    inside = false;
  });
  get(answered.get_future());
  EXPECT_FALSE(early);
}

}  // namespace
}  // namespace holdfast::redis
