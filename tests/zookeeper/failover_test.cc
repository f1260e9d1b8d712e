// Sessions on an ensemble whose servers go one by one.

#include <gmock/gmock.h>

#include <sstream>

#include "tests/zookeeper/driver_bed.h"

namespace holdfast::zookeeper {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using Kind = SessionEvent::Kind;

/// Longer than an election takes on a busy machine.
const SessionAsk kAsk{.timeout = Millis{40'000}};

class ZookeeperFailoverTest : public testing::Test {
 protected:
  static ZookeeperEnsemble& ensemble() {
    static ZookeeperEnsemble three{{.nodes = 3}};
    return three;
  }

  void SetUp() override {
    for (std::size_t i = 0; i < ensemble().size(); ++i) {
      if (!ensemble().node(i).is_running()) ensemble().node(i).start();
    }
    ensemble().wait_until_healthy();
  }

  /// Where the session is connected. Aborts if that is nowhere.
  static std::size_t server_of(SessionId id) {
    std::ostringstream sid;
    sid << "sid=0x" << std::hex << id.number << ',';
    for (std::size_t i = 0; i < ensemble().size(); ++i) {
      if (ensemble().node(i).tell("cons").find(sid.str()) != std::string::npos) return i;
    }
    std::abort();
  }

  static ZookeeperTarget target_with(std::size_t first) {
    return target_at(ensemble().node(first).ports().clients);
  }

  const std::string root_ =
      std::string{"/"} + testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(ZookeeperFailoverTest, ASessionSurvivesEveryLeader) {
  DriverBed bed{target_of(ensemble())};
  BedSession session{bed, kAsk};
  const SessionKey key = session.next(Kind::connected).key;
  session.insist(Create{root_});
  session.insist(Create{root_ + "/e", "", Create::Kind::ephemeral});
  Zxid last = 0;
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(session.ask(Read{root_, Watching::yes}));
    const std::size_t leader = ensemble().wait_for_leader();
    ensemble().node(leader).kill();
    const Answer written = session.insist(Write{root_, std::to_string(round)});
    EXPECT_GT(written.stat.modified, last);
    last = written.stat.modified;
    EXPECT_EQ(session.next(Kind::changed).path, root_);
    EXPECT_EQ(session.insist(Read{root_ + "/e"}).stat.owner, key.id);
    ensemble().node(leader).restart();
  }
  EXPECT_FALSE(session.was_told(Kind::expired));
}

TEST_F(ZookeeperFailoverTest, ASessionLeavesAServerThatStandsStill) {
  DriverBed bed{target_of(ensemble())};
  BedSession session{bed, {.timeout = Millis{16'000}}};
  const SessionKey key = session.next(Kind::connected).key;
  session.insist(Create{root_, "", Create::Kind::ephemeral});
  const std::size_t stuck = server_of(key.id);
  ensemble().node(stuck).pause();
  const Error error = error_of(session.ask(Write{root_, "x"}));
  EXPECT_EQ(error.code, Errc::unknown_outcome);
  EXPECT_EQ(session.insist(Read{root_}).stat.owner, key.id);
  EXPECT_NE(server_of(key.id), stuck);
  ensemble().node(stuck).resume();
  ensemble().wait_until_healthy();
  EXPECT_FALSE(session.was_told(Kind::expired));
}

TEST_F(ZookeeperFailoverTest, WithoutAQuorumRequestsFailInTimeAndNameTheServers) {
  DriverBed bed{target_of(ensemble())};
  BedSession session{bed, kAsk};
  session.next(Kind::connected);
  session.insist(Create{root_});
  const std::size_t leader = ensemble().wait_for_leader();
  const std::size_t follower = ensemble().wait_for_follower();
  ensemble().node(leader).kill();
  ensemble().node(follower).kill();
  session.next(Kind::disconnected);
  const Error error = error_of(session.ask(Write{root_, "x"}, 3s));
  EXPECT_EQ(error.code, Errc::unavailable);
  EXPECT_THAT(error.message, HasSubstr(ensemble().node(leader).endpoint()));
  EXPECT_THAT(error.message, HasSubstr(ensemble().node(follower).endpoint()));
  EXPECT_THAT(error.message, HasSubstr("quorum"));
  ensemble().node(leader).start();
  ensemble().node(follower).start();
  EXPECT_EQ(session.insist(Read{root_}).stat.version, 0);
  EXPECT_FALSE(session.was_told(Kind::expired));
}

TEST_F(ZookeeperFailoverTest, AResumedSessionMovesFromServerToServer) {
  DriverBed one{target_with(0)};
  BedSession first{one, kAsk};
  const SessionKey key = first.next(Kind::connected).key;
  first.insist(Create{root_, "", Create::Kind::ephemeral});
  DriverBed other{target_with(1)};
  BedSession second{other, {.timeout = kAsk.timeout, .resume = key}};
  EXPECT_EQ(second.next(Kind::connected).key.id, key.id);
  // The first connection is not to be believed any more, and comes back by itself.
  EXPECT_EQ(second.insist(Write{root_, "second"}).verdict, Verdict::done);
  one.on_env([&] { first.session().reset(); });
  EXPECT_EQ(second.insist(Sync{}).verdict, Verdict::done);
  EXPECT_EQ(second.insist(Read{root_}).data, "second");
}

TEST_F(ZookeeperFailoverTest, SessionsAreSpreadOverTheServers) {
  DriverBed bed{target_of(ensemble())};
  std::deque<BedSession> sessions;
  for (int i = 0; i < 48; ++i) sessions.emplace_back(bed, kAsk).next(Kind::connected);
  for (std::size_t i = 0; i < ensemble().size(); ++i) {
    EXPECT_THAT(ensemble().node(i).tell("cons"), HasSubstr("sid=")) << i;
  }
}

}  // namespace
}  // namespace holdfast::zookeeper
