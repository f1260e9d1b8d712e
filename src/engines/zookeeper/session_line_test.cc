#include "engines/zookeeper/session_line.h"

#include <gtest/gtest.h>

#include <vector>

#include "sim/zookeeper/zookeeper_bed.h"

namespace holdfast::zookeeper {
namespace {

using namespace std::chrono_literals;

class SessionLineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    open({.timeout = 10s});
    ASSERT_TRUE(bed_.scheduler.run_until([&] { return key_.id != SessionId{}; }, 5s));
  }

  void open(SessionAsk ask) {
    process_.env.post([this, ask] { line_->open(ask); });
    bed_.scheduler.advance(100ms);
  }
  /// Where the answer is put.
  std::shared_ptr<std::optional<Result<Answer>>> send(Request request) {
    auto to = std::make_shared<std::optional<Result<Answer>>>();
    process_.env.post([this, to, request = std::move(request)] {
      line_->send(share(request), process_.env.now() + 1h, [to](Result<Answer> answer) {
        to->emplace(std::move(answer));
      });
    });
    bed_.scheduler.advance(100ms);
    return to;
  }
  static Errc code(const std::optional<Result<Answer>>& answer) {
    return answer && !*answer ? answer->error().code : Errc::internal;
  }
  void hear(const SessionEvent& event) {
    if (event.kind == SessionEvent::Kind::connected) key_ = event.key;
  }

  sim::ZookeeperBed bed_{};
  sim::ZookeeperBed::Process& process_{bed_.start()};
  SessionKey key_{};
  std::shared_ptr<SessionLine> line_{std::make_shared<SessionLine>(
      process_.env, process_.port, [this](const SessionEvent& event) { hear(event); })};
};

TEST_F(SessionLineTest, AnswersWhatItIsAsked) {
  const auto answer = send(List{.path = "/"});
  ASSERT_TRUE(*answer && **answer);
  EXPECT_EQ((**answer)->verdict, Verdict::done);
}

TEST_F(SessionLineTest, WhatIsUnderWayWhenTheSessionIsClosedIsAnsweredAtOnce) {
  bed_.cut_off(process_);
  const auto before = send(List{.path = "/"});
  EXPECT_FALSE(*before);
  process_.env.post([this] { line_->close(); });
  bed_.scheduler.advance(10ms);
  EXPECT_EQ(code(*before), Errc::lost);
  EXPECT_EQ(code(*send(List{.path = "/"})), Errc::lost);
}

TEST_F(SessionLineTest, WhatIsUnderWayWhenTheSessionIsLeftAloneIsAnsweredAtOnce) {
  bed_.cut_off(process_);
  const auto before = send(List{.path = "/"});
  process_.env.post([this] { line_->drop(); });
  bed_.scheduler.advance(10ms);
  EXPECT_EQ(code(*before), Errc::lost);
  EXPECT_EQ(code(*send(List{.path = "/"})), Errc::lost);
  EXPECT_TRUE(bed_.ensemble.has_session(key_.id));
}

TEST_F(SessionLineTest, AnotherHandleServesTheSameSession) {
  bed_.cut_off(process_);
  const auto before = send(List{.path = "/"});
  const SessionKey key = std::exchange(key_, {});
  open({.timeout = 10s, .resume = key});
  EXPECT_EQ(code(*before), Errc::unknown_outcome);
  bed_.reconnect(process_);
  ASSERT_TRUE(bed_.scheduler.run_until([&] { return key_.id == key.id; }, 20s));
  const auto after = send(List{.path = "/"});
  EXPECT_TRUE(*after && **after);
}

TEST_F(SessionLineTest, WhoListensIsToldOfChangesAndThatSomeMayHaveBeenMissed) {
  const auto made = send(Create{.path = "/x"});
  ASSERT_TRUE(*made && **made);
  std::vector<SessionLine::Change> heard;
  auto listening =
      line_->listen("/x", [&](SessionLine::Change change) { heard.push_back(change); });
  send(Read{.path = "/x", .watching = Watching::yes});
  send(Write{.path = "/x", .data = "other"});
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_EQ(heard[0], SessionEvent::Change::data);
  open({.timeout = 10s, .resume = key_});
  ASSERT_EQ(heard.size(), 2U);
  EXPECT_EQ(heard[1], std::nullopt);
  listening = {};
  open({.timeout = 10s, .resume = key_});
  EXPECT_EQ(heard.size(), 2U);
}

TEST_F(SessionLineTest, OneOfTwoWhoListenMayStop) {
  const auto made = send(Create{.path = "/x"});
  int one = 0;
  int other = 0;
  auto first = line_->listen("/x", [&](SessionLine::Change) { ++one; });
  auto second = line_->listen("/x", [&](SessionLine::Change) { ++other; });
  send(Read{.path = "/x", .watching = Watching::yes});
  first = {};
  send(Erase{.path = "/x"});
  EXPECT_EQ(one, 0);
  EXPECT_EQ(other, 1);
  EXPECT_EQ(bed_.ensemble.watches(), 0U);
}

}  // namespace
}  // namespace holdfast::zookeeper
