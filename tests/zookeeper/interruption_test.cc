// A server that goes under a session, and comes back.

#include <gmock/gmock.h>
#include <poll.h>

#include <map>
#include <vector>

#include "tests/servers/fault_proxy.h"
#include "tests/zookeeper/driver_bed.h"

namespace holdfast::zookeeper {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using Kind = SessionEvent::Kind;

/// Longer than a restart takes on a busy machine.
const SessionAsk kAsk{.timeout = Millis{40'000}};

class ZookeeperInterruptionTest : public testing::Test {
 protected:
  static ZookeeperProcess& server() { return ensemble().node(0); }
  static ZookeeperEnsemble& ensemble() {
    static ZookeeperEnsemble only;
    return only;
  }

  void SetUp() override {
    ASSERT_TRUE(server().is_healthy());
    session_.insist(Create{root_});
  }

  const std::string root_ =
      std::string{"/"} + testing::UnitTest::GetInstance()->current_test_info()->name();
  DriverBed bed_{target_of(ensemble())};
  BedSession session_{bed_, kAsk};
};

TEST_F(ZookeeperInterruptionTest, ASessionOutlivesARestartWithItsNodesAndWatches) {
  const SessionKey key = session_.next(Kind::connected).key;
  session_.insist(Create{root_ + "/e", "", Create::Kind::ephemeral});
  ASSERT_TRUE(session_.ask(Read{root_, Watching::yes}));
  server().kill();
  const Error why = session_.next(Kind::disconnected).error;
  EXPECT_THAT(why.message, HasSubstr(server().endpoint()));
  auto waits = session_.send(Write{root_, "after"});
  server().restart();
  const SessionEvent again = session_.next(Kind::connected);
  EXPECT_EQ(again.key.id, key.id);
  EXPECT_TRUE(get(std::move(waits)));
  EXPECT_EQ(session_.next(Kind::changed).path, root_);
  EXPECT_EQ(session_.insist(Read{root_ + "/e"}).stat.owner, key.id);
}

TEST_F(ZookeeperInterruptionTest, WhatWaitsForAServerIsUnavailableInTime) {
  session_.next(Kind::connected);
  server().kill();
  session_.next(Kind::disconnected);
  const Error error = error_of(session_.ask(Write{root_, "x"}, 300ms));
  EXPECT_EQ(error.code, Errc::unavailable);
  EXPECT_THAT(error.message, HasSubstr(server().endpoint()));
  server().restart();
  EXPECT_EQ(session_.insist(Read{root_}).stat.version, 0);
}

// The client keeps what it could not send for the next connection, half a request included.
TEST_F(ZookeeperInterruptionTest, WhatADeadConnectionTookIsNotSentOnTheNext) {
  servers::FaultProxy proxy{server().ports().clients};
  DriverBed bed{target_at(proxy.port())};
  BedSession session{bed, kAsk};
  session.next(Kind::connected);
  std::vector<std::shared_ptr<std::promise<Result<Answer>>>> promises;
  bed.on_env([&] {
    // Nothing is read meanwhile: only sending can find that the connection is dead.
    proxy.heal();
    while (proxy.open_connections() > 0) poll(nullptr, 0, /*timeout_ms=*/1);
    for (int i = 0; i < 10; ++i) {
      const auto& promise = promises.emplace_back(std::make_shared<std::promise<Result<Answer>>>());
      const std::string path = root_ + "/n" + std::to_string(i);
      session.session()->send(share(Create{path, std::string(100'000, 'x')}),
                              bed.env().now() + kBound,
                              [promise](auto answer) { promise->set_value(std::move(answer)); });
    }
  });
  session.next(Kind::disconnected);
  session.next(Kind::connected);
  // Those that never left go with the new connection; of the others nobody knows.
  std::size_t lost = 0;
  for (std::size_t i = 0; i < promises.size(); ++i) {
    const auto answer = get(promises[i]->get_future());
    const std::string path = root_ + "/n" + std::to_string(i);
    EXPECT_EQ(session_.insist(Exists{path}).verdict, answer ? Verdict::done : Verdict::no_node);
    if (answer) continue;
    EXPECT_EQ(answer.error().code, Errc::unknown_outcome) << answer.error().message;
    ++lost;
  }
  EXPECT_GT(lost, 0U);
  EXPECT_LT(lost, promises.size());
  EXPECT_FALSE(session.was_told(Kind::disconnected));
}

TEST_F(ZookeeperInterruptionTest, WatchesAreToldWhatHappenedWhileTheConnectionWasAway) {
  servers::FaultProxy proxy{server().ports().clients};
  DriverBed bed{target_at(proxy.port())};
  BedSession watcher{bed, kAsk};
  session_.insist(Create{root_ + "/gone"});
  ASSERT_TRUE(watcher.ask(Read{root_ + "/gone", Watching::yes}));
  ASSERT_TRUE(watcher.ask(Exists{root_ + "/new", Watching::yes}));
  session_.insist(Create{root_ + "/other"});
  ASSERT_TRUE(watcher.ask(Read{root_ + "/other", Watching::yes}));
  ASSERT_TRUE(watcher.ask(List{root_, Watching::yes}));
  bed.on_env([&] {
    watcher.session()->unwatch(root_ + "/other");
    proxy.hold_replies();
  });
  session_.insist(Erase{root_ + "/gone"});
  session_.insist(Create{root_ + "/new"});
  session_.insist(Write{root_ + "/other", "nobody watches this"});
  proxy.heal();
  std::map<std::string, SessionEvent::Change> told;
  while (told.size() < 3) {
    const SessionEvent event = watcher.next(Kind::changed);
    EXPECT_TRUE(told.emplace(event.path, event.change).second) << event.path;
  }
  EXPECT_EQ(told[root_ + "/gone"], SessionEvent::Change::erased);
  EXPECT_EQ(told[root_ + "/new"], SessionEvent::Change::created);
  EXPECT_EQ(told[root_], SessionEvent::Change::children);
}

TEST_F(ZookeeperInterruptionTest, ACreateWhoseAnswerWasLostHasAnUnknownOutcomeAndIsNotRepeated) {
  servers::FaultProxy proxy{server().ports().clients};
  DriverBed bed{target_at(proxy.port())};
  BedSession session{bed, kAsk};
  session.next(Kind::connected);
  proxy.hold_replies();
  auto lost = session.send(Create{root_ + "/n-", "", Create::Kind::ephemeral_sequential});
  while (session_.insist(List{root_}).children.empty()) {
  }
  proxy.heal();
  EXPECT_EQ(error_of(get(std::move(lost))).code, Errc::unknown_outcome);
  EXPECT_EQ(session.insist(List{root_}).children.size(), 1U);
}

TEST_F(ZookeeperInterruptionTest, RequestsUnderWayHaveAnUnknownOutcome) {
  session_.next(Kind::connected);
  server().pause();
  auto one = session_.send(Write{root_, "x"});
  auto late = session_.send(Write{root_, "y"}, 300ms);
  const Error too_late = error_of(get(std::move(late)));
  EXPECT_EQ(too_late.code, Errc::unknown_outcome);
  EXPECT_THAT(too_late.message, HasSubstr("no answer in time"));
  server().kill();
  const Error broken = error_of(get(std::move(one)));
  EXPECT_EQ(broken.code, Errc::unknown_outcome);
  EXPECT_THAT(broken.message, HasSubstr(server().endpoint()));
  server().restart();
  // What is sent after the connection came back runs after all that may still have run.
  const Answer read = session_.insist(Read{root_});
  EXPECT_EQ(session_.insist(Read{root_}).stat.version, read.stat.version);
}

TEST_F(ZookeeperInterruptionTest, AnsweredLateIsNotAnsweredTwice) {
  session_.next(Kind::connected);
  server().pause();
  auto late = session_.send(Create{root_ + "/late"}, 200ms);
  EXPECT_EQ(error_of(get(std::move(late))).code, Errc::unknown_outcome);
  server().resume();
  // In order: the first has run.
  EXPECT_EQ(session_.insist(Exists{root_ + "/late"}).verdict, Verdict::done);
}

TEST_F(ZookeeperInterruptionTest, ASessionClosedWhileTheServerIsAwayEndsWhenItIsBack) {
  const SessionEvent connected = session_.next(Kind::connected);
  session_.insist(Create{root_ + "/e", "", Create::Kind::ephemeral});
  server().kill();
  session_.next(Kind::disconnected);
  bed_.on_env([&] {
    session_.session()->close();
    session_.session().reset();
  });
  server().restart();
  BedSession other{bed_, kAsk};
  // Long before it would end by itself.
  const TimePoint end = BootClock::now() + connected.timeout / 2;
  bool is_gone = false;
  while (!is_gone && BootClock::now() < end) {
    is_gone = other.insist(Exists{root_ + "/e"}).verdict == Verdict::no_node;
  }
  EXPECT_TRUE(is_gone);
}

}  // namespace
}  // namespace holdfast::zookeeper
