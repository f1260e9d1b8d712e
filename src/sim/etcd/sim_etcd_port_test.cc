#include "sim/etcd/sim_etcd_port.h"

#include <gtest/gtest.h>

#include "sim/etcd/etcd_bed.h"

namespace holdfast::sim {
namespace {

using namespace etcd;
using namespace std::chrono_literals;

Txn put(const std::string& key, LeaseId lease = {}) {
  return {.then = {Put{.key = key, .lease = lease}}};
}

Txn erase(const std::string& key) { return {.then = {Erase{.keys = {.key = key}}}}; }

class SimEtcdPortTest : public testing::Test {
 protected:
  Seconds grant(LeaseId lease, Seconds ttl) {
    const auto answer = bed_.ask<LeaseAnswer>(alice_, [&](auto on_answer) {
      alice_.port->grant(lease, ttl, alice_.env.now() + 5s, on_answer);
    });
    return answer ? answer->ttl : Seconds{-1};
  }

  Seconds keep_alive(LeaseId lease) {
    const auto answer = bed_.ask<LeaseAnswer>(alice_, [&](auto on_answer) {
      alice_.port->keep_alive(lease, alice_.env.now() + 5s, on_answer);
    });
    return answer ? answer->ttl : Seconds{-1};
  }

  /// Everything told goes to news_.
  WatchId watch(Watch watch) {
    return alice_.port->watch(std::move(watch),
                              [this](const WatchNews& news) { news_.push_back(news); });
  }

  std::vector<std::string> keys_told() const {
    std::vector<std::string> keys;
    for (const WatchNews& news : news_) {
      for (const Change& change : news.changes) keys.push_back(change.entry.key);
    }
    return keys;
  }

  std::size_t told(WatchNews::Kind kind) const {
    return static_cast<std::size_t>(std::ranges::count(news_, kind, &WatchNews::kind));
  }

  EtcdBed bed_;
  EtcdBed::Process& alice_{bed_.start()};
  EtcdBed::Process& bob_{bed_.start()};
  std::vector<WatchNews> news_;
};

using Keys = std::vector<std::string>;

TEST_F(SimEtcdPortTest, CommitsAndAnswersWithAHeader) {
  const auto answer = bed_.commit(alice_, put("a"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->header.revision, 2);
  EXPECT_NE(answer->header.cluster, 0U);
  EXPECT_NE(answer->header.term, 0U);
}

TEST_F(SimEtcdPortTest, ALostReplyIsUnknownAndHasRun) {
  bed_.lose_next_replies(alice_, 1);
  const auto answer = bed_.commit(alice_, put("a"), 1s);
  EXPECT_EQ(answer.error().code, Errc::unknown_outcome);
  EXPECT_NE(bed_.cluster.keys().find("a"), nullptr);
}

TEST_F(SimEtcdPortTest, GoesToAnotherMemberWhenOneIsDown) {
  bed_.cluster.stop(1);
  bed_.cluster.stop(0);
  EXPECT_EQ(bed_.commit(alice_, put("a"), 1s).has_value(), false) << "two of three are down";
  bed_.cluster.start(1);
  bed_.scheduler.advance(3s);
  EXPECT_TRUE(bed_.commit(alice_, put("b"), 1s));
}

TEST_F(SimEtcdPortTest, IsUnavailableWhenEveryMemberIsDown) {
  for (std::size_t i = 0; i < 3; ++i) bed_.cluster.stop(i);
  EXPECT_EQ(bed_.commit(alice_, put("a")).error().code, Errc::unavailable);
}

TEST_F(SimEtcdPortTest, ALeaseThatNobodyRenewsEndsWithinASecond) {
  ASSERT_EQ(grant({7}, 5s), 5s);
  ASSERT_TRUE(bed_.commit(alice_, put("a", {7})));
  bed_.scheduler.advance(4s);
  EXPECT_NE(bed_.cluster.keys().find("a"), nullptr);
  bed_.scheduler.advance(2s);
  EXPECT_EQ(bed_.cluster.keys().find("a"), nullptr);
  EXPECT_EQ(keep_alive({7}), 0s);
}

TEST_F(SimEtcdPortTest, AnotherLeaderLetsLeasesBeginAnew) {
  ASSERT_EQ(grant({7}, 5s), 5s);
  ASSERT_TRUE(bed_.commit(alice_, put("a", {7})));
  bed_.scheduler.advance(4s);
  bed_.cluster.change_leader();
  bed_.scheduler.advance(5500ms);
  EXPECT_NE(bed_.cluster.keys().find("a"), nullptr);
  bed_.scheduler.advance(1500ms);
  EXPECT_EQ(bed_.cluster.keys().find("a"), nullptr);
}

TEST_F(SimEtcdPortTest, AStuckLeaderTakesAwayWhatWasRenewedElsewhere) {
  ASSERT_EQ(grant({7}, 5s), 5s);
  ASSERT_TRUE(bed_.commit(alice_, put("a", {7})));
  const auto stuck = bed_.cluster.stick_leader();
  ASSERT_TRUE(stuck);
  bed_.scheduler.advance(3s);
  EXPECT_EQ(keep_alive({7}), 5s);
  bed_.scheduler.advance(3s);
  EXPECT_NE(bed_.cluster.keys().find("a"), nullptr);
  bed_.cluster.go_on(*stuck);
  EXPECT_EQ(bed_.cluster.keys().find("a"), nullptr);
}

TEST_F(SimEtcdPortTest, ARestoreTakesRevisionsBack) {
  ASSERT_TRUE(bed_.commit(alice_, put("a")));
  bed_.cluster.back_up();
  ASSERT_TRUE(bed_.commit(alice_, put("b")));
  bed_.cluster.restore();
  bed_.scheduler.advance(5s);
  const auto again = bed_.commit(alice_, put("c"));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->header.revision, 3);
  EXPECT_EQ(bed_.cluster.keys().find("b"), nullptr);
}

TEST_F(SimEtcdPortTest, TellsWatchersInOrder) {
  watch({.keys = starting_with("k")});
  bed_.scheduler.advance(100ms);
  EXPECT_EQ(told(WatchNews::Kind::watching), 1U);
  for (const char* key : {"k1", "k2", "k3"}) ASSERT_TRUE(bed_.commit(bob_, put(key)));
  bed_.scheduler.advance(100ms);
  EXPECT_EQ(keys_told(), (Keys{"k1", "k2", "k3"}));
}

TEST_F(SimEtcdPortTest, BridgesAnInterruption) {
  watch({.keys = starting_with("k")});
  bed_.scheduler.advance(100ms);
  bed_.cut_off(alice_);
  ASSERT_TRUE(bed_.commit(bob_, put("k1")));
  bed_.scheduler.advance(3s);
  EXPECT_TRUE(keys_told().empty());
  bed_.reconnect(alice_);
  bed_.scheduler.advance(5s);
  EXPECT_EQ(keys_told(), Keys{"k1"});
  ASSERT_TRUE(bed_.commit(bob_, erase("k1")));
  bed_.scheduler.advance(100ms);
  EXPECT_EQ(keys_told(), (Keys{"k1", "k1"}));
}

TEST_F(SimEtcdPortTest, BridgesALostMessage) {
  watch({.keys = starting_with("k")});
  bed_.scheduler.advance(100ms);
  bed_.lose_next_replies(alice_, 1);
  ASSERT_TRUE(bed_.commit(bob_, put("k1")));
  ASSERT_TRUE(bed_.commit(bob_, put("k2")));
  bed_.scheduler.advance(5s);
  EXPECT_EQ(keys_told(), (Keys{"k1", "k2"}));
}

TEST_F(SimEtcdPortTest, BridgesTheLossOfAMember) {
  watch({.keys = starting_with("k")});
  bed_.scheduler.advance(100ms);
  bed_.cluster.stop(0);
  bed_.scheduler.advance(4s);
  ASSERT_TRUE(bed_.commit(bob_, put("k1")));
  bed_.scheduler.advance(5s);
  EXPECT_EQ(keys_told(), Keys{"k1"});
  EXPECT_GE(told(WatchNews::Kind::watching), 2U);
}

TEST_F(SimEtcdPortTest, SaysWhenItMissedWhatWasCompacted) {
  watch({.keys = starting_with("k")});
  bed_.scheduler.advance(100ms);
  bed_.cut_off(alice_);
  ASSERT_TRUE(bed_.commit(bob_, put("k1")));
  ASSERT_TRUE(bed_.commit(bob_, put("k2")));
  bed_.cluster.compact(bed_.cluster.revision());
  bed_.scheduler.advance(3s);
  bed_.reconnect(alice_);
  bed_.scheduler.advance(5s);
  EXPECT_EQ(told(WatchNews::Kind::compacted), 1U);
  ASSERT_TRUE(bed_.commit(bob_, put("k3")));
  bed_.scheduler.advance(100ms);
  EXPECT_EQ(keys_told(), Keys{"k3"});
}

TEST_F(SimEtcdPortTest, SaysNothingAfterUnwatch) {
  const WatchId id = watch({.keys = starting_with("k")});
  bed_.scheduler.advance(100ms);
  alice_.port->unwatch(id);
  ASSERT_TRUE(bed_.commit(bob_, put("k1")));
  bed_.scheduler.advance(5s);
  EXPECT_TRUE(keys_told().empty());
}

}  // namespace
}  // namespace holdfast::sim
