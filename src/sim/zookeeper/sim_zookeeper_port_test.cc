#include "sim/zookeeper/sim_zookeeper_port.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "sim/zookeeper/sim_zookeeper_session.h"
#include "sim/zookeeper/zookeeper_bed.h"

namespace holdfast::sim {
namespace {

using namespace zookeeper;
using namespace std::chrono_literals;
using Kind = SessionEvent::Kind;
using Names = std::vector<std::string>;

class SimZookeeperPortTest : public testing::Test {
 protected:
  static std::vector<std::string> watches_told(const ZookeeperBed::Session& session) {
    std::vector<std::string> paths;
    for (const SessionEvent& event : *session.events) {
      if (event.kind == Kind::changed) paths.push_back(event.path);
    }
    return paths;
  }

  static long told(const ZookeeperBed::Session& session, Kind kind) {
    return std::ranges::count(*session.events, kind, &SessionEvent::kind);
  }

  static std::shared_ptr<SimZookeeperSession> begin(ZookeeperBed& bed,
                                                    ZookeeperBed::Process& process) {
    const SimZookeeperPort::Route route{
        process.env, bed.network, bed.ensemble, {process.host, bed.member_hosts}};
    auto session = std::make_shared<SimZookeeperSession>(route, SessionAsk{.timeout = 4s}, nullptr);
    session->begin();
    bed.scheduler.advance(1s);
    return session;
  }

  ZookeeperBed bed_;
  ZookeeperBed::Process& alice_{bed_.start()};
  ZookeeperBed::Process& bob_{bed_.start()};
};

TEST_F(SimZookeeperPortTest, OpensASessionWithATimeoutInTheRangeOfTheServers) {
  const TimePoint before = alice_.env.now();
  auto session = bed_.open(alice_, 1ms);
  const SessionEvent& event = session.await(Kind::connected);
  EXPECT_EQ(event.timeout, ZookeeperEnsemble::kTimeoutMin);
  EXPECT_NE(event.key.id, SessionId{});
  EXPECT_GE(event.asked_at, before);
  EXPECT_LE(event.asked_at, alice_.env.now());
}

TEST_F(SimZookeeperPortTest, AnswersInOrderAndAListKnowsTheCreateBeforeIt) {
  auto session = bed_.open(alice_);
  Names answers;
  alice_.env.post([&] {
    const TimePoint by = alice_.env.now() + 5s;
    session.session->send(share(Create{.path = "/a"}), by, [&](Result<Answer> answer) {
      answers.push_back(answer.value().path);
    });
    session.session->send(share(List{.path = "/"}), by, [&](Result<Answer> answer) {
      for (const std::string& name : answer.value().children) answers.push_back(name);
    });
  });
  bed_.scheduler.advance(5s);
  EXPECT_EQ(answers, (Names{"/a", "a"}));
}

TEST_F(SimZookeeperPortTest, NodesEndWithTheSessionThatMadeThem) {
  auto session = bed_.open(alice_);
  ASSERT_TRUE(session.ask(Create{.path = "/a", .kind = Create::Kind::ephemeral}));
  bed_.scheduler.advance(60s);
  EXPECT_TRUE(bed_.ensemble.tree().has("/a")) << "pings keep it alive";
  session.session->close();
  bed_.scheduler.advance(1s);
  EXPECT_FALSE(bed_.ensemble.tree().has("/a"));
}

TEST_F(SimZookeeperPortTest, ASessionThatEndsWithoutAWordExpires) {
  auto session = bed_.open(alice_, 4s);
  ASSERT_TRUE(session.ask(Create{.path = "/a", .kind = Create::Kind::ephemeral}));
  session.session.reset();
  bed_.scheduler.advance(3s);
  EXPECT_TRUE(bed_.ensemble.tree().has("/a"));
  bed_.scheduler.advance(3s);
  EXPECT_FALSE(bed_.ensemble.tree().has("/a"));
}

TEST_F(SimZookeeperPortTest, SomebodyElseResumesASessionWithItsKey) {
  auto session = bed_.open(alice_);
  const SessionKey key = session.await(Kind::connected).key;
  ASSERT_TRUE(session.ask(Create{.path = "/a", .kind = Create::Kind::ephemeral}));
  session.session.reset();
  ZookeeperBed::Session resumed{bed_, bob_, {.timeout = 4s, .resume = key}};
  EXPECT_EQ(resumed.await(Kind::connected).key.id, key.id);
  bed_.scheduler.advance(30s);
  EXPECT_TRUE(bed_.ensemble.tree().has("/a"));
  const SessionKey wrong{.id = key.id, .password = "guess"};
  ZookeeperBed::Session guess{bed_, alice_, {.timeout = 4s, .resume = wrong}};
  guess.await(Kind::expired);
  EXPECT_TRUE(bed_.ensemble.has_session(key.id));
}

TEST_F(SimZookeeperPortTest, IsToldThatASessionHasExpiredOnlyWhenItReconnects) {
  auto session = bed_.open(alice_, 4s);
  session.await(Kind::connected);
  bed_.cut_off(alice_);
  bed_.scheduler.advance(30s);
  EXPECT_EQ(bed_.ensemble.sessions(), 0U);
  EXPECT_EQ(told(session, Kind::disconnected), 1);
  EXPECT_EQ(told(session, Kind::expired), 0);
  bed_.reconnect(alice_);
  session.await(Kind::expired);
  EXPECT_EQ(session.ask(Read{.path = "/"}).error().code, Errc::lost);
}

TEST_F(SimZookeeperPortTest, TellsWhatHasNotRunFromWhatMayHave) {
  auto session = bed_.open(alice_);
  session.await(Kind::connected);
  bed_.mute(alice_);
  EXPECT_EQ(session.ask(Create{.path = "/a"}, 100ms).error().code, Errc::unknown_outcome);
  bed_.scheduler.advance(1s);
  EXPECT_TRUE(bed_.ensemble.tree().has("/a"));
  session.await(Kind::disconnected);
  EXPECT_EQ(session.ask(Create{.path = "/b"}, 1s).error().code, Errc::unavailable);
  bed_.unmute(alice_);
  bed_.scheduler.advance(3s);
  EXPECT_FALSE(bed_.ensemble.tree().has("/b"));
}

TEST_F(SimZookeeperPortTest, WatchesAreToldOnceAndOutliveAChangeOfServer) {
  auto session = bed_.open(alice_, 4s);
  auto other = bed_.open(bob_);
  ASSERT_TRUE(other.ask(Create{.path = "/a"}));
  ASSERT_TRUE(session.ask(Sync{}));
  ASSERT_EQ(session.ask(Read{.path = "/a", .watching = Watching::yes})->verdict, Verdict::done);
  bed_.cut_off(alice_);
  session.await(Kind::disconnected);
  bed_.reconnect(alice_);
  bed_.scheduler.advance(3s);
  EXPECT_TRUE(watches_told(session).empty());
  ASSERT_TRUE(other.ask(Write{.path = "/a"}));
  ASSERT_TRUE(other.ask(Write{.path = "/a"}));
  bed_.scheduler.advance(1s);
  EXPECT_EQ(watches_told(session), Names{"/a"});
}

TEST_F(SimZookeeperPortTest, AWatchIsToldOfWhatHappenedBetweenTwoServers) {
  auto session = bed_.open(alice_, 4s);
  auto other = bed_.open(bob_);
  ASSERT_TRUE(session.ask(Create{.path = "/a"}));
  ASSERT_TRUE(session.ask(Read{.path = "/a", .watching = Watching::yes}));
  ASSERT_TRUE(session.ask(List{.path = "/", .watching = Watching::yes}));
  bed_.cut_off(alice_);
  session.await(Kind::disconnected);
  ASSERT_TRUE(other.ask(Erase{.path = "/a"}));
  bed_.reconnect(alice_);
  bed_.scheduler.advance(3s);
  EXPECT_EQ(watches_told(session), (Names{"/a", "/"}));
}

TEST_F(SimZookeeperPortTest, ForgetsAWatchHereAndAtTheServer) {
  auto session = bed_.open(alice_);
  ASSERT_TRUE(session.ask(Exists{.path = "/a", .watching = Watching::yes}));
  EXPECT_EQ(bed_.ensemble.watches(), 1U);
  session.session->unwatch("/a");
  ASSERT_TRUE(session.ask(Create{.path = "/a"}));
  EXPECT_TRUE(watches_told(session).empty());
  EXPECT_EQ(bed_.ensemble.watches(), 0U);
}

TEST_F(SimZookeeperPortTest, GoesToAnotherServerWhenOneStops) {
  auto session = bed_.open(alice_);
  session.await(Kind::connected);
  for (std::size_t member = 0; member < 3; ++member) {
    bed_.ensemble.stop(member);
    bed_.scheduler.advance(5s);
    EXPECT_TRUE(session.ask(Write{.path = "/"})) << "without member " << member;
    bed_.ensemble.start(member);
    bed_.scheduler.advance(5s);
  }
  EXPECT_EQ(told(session, Kind::expired), 0);
}

/// Campaigns run hundreds of thousands of worlds in one process.
TEST_F(SimZookeeperPortTest, NothingOfASessionThatWasConnectedOutlivesItsEnsemble) {
  std::weak_ptr<SimZookeeperSession> left;
  {
    ZookeeperBed bed;
    const auto session = begin(bed, bed.start());
    left = session;
    ASSERT_EQ(bed.ensemble.sessions(), 1U);
    session->end();
  }
  EXPECT_TRUE(left.expired());
}

TEST_F(SimZookeeperPortTest, NothingIsLeftOfASessionThatWasClosedAtBothEnds) {
  const auto session = begin(bed_, alice_);
  session->close();
  bed_.scheduler.advance(10s);
  session->end();
  ASSERT_EQ(bed_.ensemble.sessions(), 0U);
  EXPECT_EQ(session.use_count(), 1);
}

}  // namespace
}  // namespace holdfast::sim
