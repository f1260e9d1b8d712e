#include "sim/zookeeper/zookeeper_ensemble.h"

#include <gtest/gtest.h>

#include "sim/zookeeper/zookeeper_bed.h"

namespace holdfast::sim {
namespace {

using namespace zookeeper;
using namespace std::chrono_literals;
using Kind = SessionEvent::Kind;

class ZookeeperEnsembleTest : public testing::Test {
 protected:
  /// The process reaches that member alone.
  void reach_only(std::size_t member) {
    for (std::size_t i = 0; i < bed_.member_hosts.size(); ++i) {
      const int blocked = i == member ? 0 : 1;
      bed_.network.way(alice_.host, bed_.member_hosts[i]).blocked = blocked;
      bed_.network.way(bed_.member_hosts[i], alice_.host).blocked = blocked;
    }
  }

  static bool has_answer(ZookeeperBed::Session& session, const Request& request) {
    return session.ask(request, 200ms).has_value();
  }

  ZookeeperBed bed_;
  ZookeeperEnsemble& ensemble_{bed_.ensemble};
  ZookeeperBed::Process& alice_{bed_.start()};
  const Request agreed_{Multi{{Check{.path = "/"}}}};
};

TEST_F(ZookeeperEnsembleTest, AFollowerThatIsCutOffAnswersWhileTheLeaderEndsTheSession) {
  reach_only(1);
  auto session = bed_.open(alice_, 1s);
  const SessionId id = session.await(Kind::connected).key.id;
  ensemble_.isolate(1);
  for (int i = 0; i < 8 && ensemble_.has_session(id); ++i) {
    bed_.scheduler.advance(200ms);
    EXPECT_TRUE(has_answer(session, Read{.path = "/"}));
  }
  EXPECT_FALSE(ensemble_.has_session(id));
  EXPECT_TRUE(has_answer(session, Read{.path = "/"})) << "the follower does not know";
  EXPECT_FALSE(has_answer(session, Sync{}));
  EXPECT_FALSE(has_answer(session, agreed_));
}

TEST_F(ZookeeperEnsembleTest, ALeaderThatWasDeposedAnswersSyncsAndNothingThatNeedsAMajority) {
  reach_only(0);
  auto session = bed_.open(alice_, 10s);
  session.await(Kind::connected);
  ensemble_.isolate(0, ZookeeperEnsemble::Notice::at_once);
  bed_.scheduler.advance(1500ms);
  ASSERT_TRUE(ensemble_.leader().has_value());
  EXPECT_NE(ensemble_.leader(), 0U);
  EXPECT_TRUE(has_answer(session, Sync{}));
  EXPECT_TRUE(has_answer(session, Read{.path = "/"}));
  EXPECT_FALSE(has_answer(session, agreed_));
  EXPECT_FALSE(has_answer(session, Sync{})) << "it waits for a majority now";
  bed_.scheduler.advance(3s);
  session.await(Kind::disconnected);
}

TEST_F(ZookeeperEnsembleTest, SessionsBeginAnewUnderAnotherLeader) {
  auto session = bed_.open(alice_, 4s);
  const SessionId id = session.await(Kind::connected).key.id;
  session.session.reset();
  bed_.scheduler.advance(3500ms);
  ensemble_.change_leader();
  bed_.scheduler.advance(3500ms);
  EXPECT_TRUE(ensemble_.has_session(id));
  bed_.scheduler.advance(3s);
  EXPECT_FALSE(ensemble_.has_session(id));
}

TEST_F(ZookeeperEnsembleTest, AMemberRefusesASessionThatHasSeenMoreThanItself) {
  std::vector<ZookeeperWord> said;
  const auto say = [&](ZookeeperWord word) { said.push_back(std::move(word)); };
  ensemble_.connect(1, {.timeout = 4s, .seen = Zxid{1} << 40}, say);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_TRUE(std::holds_alternative<ZookeeperClosed>(said.front().what));
}

TEST_F(ZookeeperEnsembleTest, ASessionThatMovesMakesItsFormerConnectionVoid) {
  std::vector<ZookeeperWord> before;
  std::vector<ZookeeperWord> after;
  const auto former = ensemble_.connect(
      1, {.timeout = 4s}, [&](ZookeeperWord word) { before.push_back(std::move(word)); });
  bed_.scheduler.advance(1s);
  const auto* welcome = std::get_if<ZookeeperWelcome>(&before.at(0).what);
  ASSERT_NE(welcome, nullptr);
  ensemble_.connect(2, {.timeout = 4s, .resume = welcome->key}, [&](ZookeeperWord word) {
    after.push_back(std::move(word));
  });
  bed_.scheduler.advance(1s);
  EXPECT_TRUE(std::holds_alternative<ZookeeperWelcome>(after.at(0).what));
  ensemble_.receive(former, 1, share(Create{.path = "/a"}));
  bed_.scheduler.advance(1s);
  EXPECT_TRUE(std::holds_alternative<ZookeeperClosed>(before.back().what));
  EXPECT_FALSE(ensemble_.tree().has("/a"));
}

TEST_F(ZookeeperEnsembleTest, WhoFollowsALeaderThatStoppedWhileItWasCutOffFindsAnother) {
  ensemble_.isolate(0, ZookeeperEnsemble::Notice::by_silence);
  ensemble_.stop(0);
  ensemble_.rejoin(0);
  ensemble_.start(0);
  bed_.scheduler.advance(5s);
  ASSERT_TRUE(ensemble_.leader().has_value());
  auto session = bed_.open(alice_);
  EXPECT_TRUE(has_answer(session, agreed_));
}

TEST_F(ZookeeperEnsembleTest, WhatWaitsForAMajorityRunsWhenItIsThereAgain) {
  reach_only(0);
  auto session = bed_.open(alice_, 10s);
  session.await(Kind::connected);
  ensemble_.isolate(0, ZookeeperEnsemble::Notice::by_silence);
  EXPECT_FALSE(has_answer(session, Create{.path = "/a"}));
  EXPECT_FALSE(ensemble_.tree().has("/a"));
  ensemble_.rejoin(0);
  bed_.scheduler.advance(1s);
  EXPECT_TRUE(ensemble_.tree().has("/a"));
}

}  // namespace
}  // namespace holdfast::sim
