// Endpoints and leaders that go away, and come back.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/etcd/driver_bed.h"

namespace holdfast::etcd {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// Until it has an answer: whatever became of earlier attempts.
TxnAnswer put_at_last(DriverBed& bed, const std::string& key, const std::string& value) {
  for (const TimePoint end = BootClock::now() + kBound; BootClock::now() < end;) {
    const auto answer = get(bed.put(key, value, 5s));
    if (answer) return *answer;
  }
  ADD_FAILURE() << "nothing could be written";
  return {};
}

std::string next_change(Ear& ear) {
  std::string heard = ear.next();
  while (heard == "watching") heard = ear.next();
  return heard;
}

class EtcdFailoverTest : public testing::Test {
 protected:
  /// The node that the driver begins with.
  EtcdProcess& first() { return cluster_.node(0); }

  EtcdCluster cluster_{{.nodes = 3}};
};

TEST_F(EtcdFailoverTest, AnEndpointThatIsDownIsPassedOver) {
  first().kill();
  cluster_.wait_for_leader();
  DriverBed bed{target_of(cluster_)};
  put_at_last(bed, "k", "v");
  EXPECT_EQ(bed.stats().visits, 1U) << "requests were sent there";
}

TEST_F(EtcdFailoverTest, NothingThatIsWatchedIsMissedWhenAnEndpointIsKilled) {
  DriverBed bed{target_of(cluster_)};
  Ear ear;
  bed.on_env([&] { bed.driver()->watch({.keys = {"k"}}, ear.on_watch()); });
  EXPECT_EQ(ear.next(), "watching");
  put_at_last(bed, "k", "1");
  EXPECT_EQ(ear.next(), "put k=1");
  first().kill();
  cluster_.wait_for_leader();
  // By another client, whether or not the watch is back.
  cluster_.must({"--command-timeout=60s", "put", "k", "2"});
  cluster_.must({"--command-timeout=60s", "put", "k", "3"});
  EXPECT_EQ(next_change(ear), "put k=2");
  EXPECT_EQ(next_change(ear), "put k=3");
}

TEST_F(EtcdFailoverTest, LeasesAreKeptWhenAnEndpointIsKilled) {
  DriverBed bed{target_of(cluster_)};
  ASSERT_EQ(get(bed.grant({7}, Seconds{60}))->ttl, Seconds{60});
  ASSERT_EQ(get(bed.keep_alive({7}))->ttl, Seconds{60});
  first().kill();
  auto answer = get(bed.keep_alive({7}, 5s));
  for (int i = 0; i < 20 && !answer; ++i) answer = get(bed.keep_alive({7}, 5s));
  ASSERT_TRUE(answer) << error_of(answer).message;
  EXPECT_EQ(answer->ttl, Seconds{60});
}

// It takes what is sent and does not answer: what left is unknown, what follows goes elsewhere.
TEST_F(EtcdFailoverTest, AnEndpointThatHangsIsLeft) {
  DriverBed bed{target_of(cluster_)};
  Ear ear;
  bed.on_env([&] { bed.driver()->watch({.keys = {"k"}}, ear.on_watch()); });
  EXPECT_EQ(ear.next(), "watching");
  first().pause();
  const Error error = error_of(get(bed.put("k", "1", 500ms)));
  EXPECT_EQ(error.code, Errc::unknown_outcome);
  EXPECT_EQ(error.message, "etcd " + first().endpoint() + ": no answer in time");
  put_at_last(bed, "k", "2");
  // The first may have been heard as well, once the server goes on.
  std::string heard = next_change(ear);
  if (heard == "put k=1") heard = next_change(ear);
  EXPECT_EQ(heard, "put k=2");
  first().resume();
}

// Streams would have to be opened again for the sake of one who had no time.
TEST_F(EtcdFailoverTest, AnEndpointIsNotLeftForAnImpatientRequest) {
  DriverBed bed{target_of(cluster_)};
  put_at_last(bed, "k", "1");
  Error last;
  for (int i = 0; i < 10; ++i) {
    for (int j = 0; j < 2; ++j) last = error_of(get(bed.put("k", "2", 100us)));
    put_at_last(bed, "k", "3");
  }
  // Once, where this machine kept nobody waiting.
  EXPECT_LT(bed.stats().visits, 6U) << last.message;
}

TEST_F(EtcdFailoverTest, ARenewalThatHangsIsUnknownAndTheNextGoesElsewhere) {
  DriverBed bed{target_of(cluster_)};
  ASSERT_EQ(get(bed.grant({7}, Seconds{60}))->ttl, Seconds{60});
  ASSERT_EQ(get(bed.keep_alive({7}))->ttl, Seconds{60});
  first().pause();
  EXPECT_EQ(error_of(get(bed.keep_alive({7}, 500ms))).code, Errc::unknown_outcome);
  auto answer = get(bed.keep_alive({7}, 5s));
  for (int i = 0; i < 20 && !answer; ++i) answer = get(bed.keep_alive({7}, 5s));
  ASSERT_TRUE(answer) << error_of(answer).message;
  EXPECT_EQ(answer->ttl, Seconds{60});
  first().resume();
}

// Otherwise a watch would hear nothing for as long as its server is cut off, and a renewal be
// waited for in vain.
TEST(EtcdNoLeaderTest, StreamsToAServerWithoutALeaderEnd) {
  EtcdCluster cluster{
      {.nodes = 3,
       .settings = {.arguments = {"--heartbeat-interval=50", "--election-timeout=500"}}}};
  DriverBed bed{target_at(cluster.node(0).ports().clients)};
  Ear ear;
  bed.on_env([&] { bed.driver()->watch({.keys = {"k"}}, ear.on_watch()); });
  EXPECT_EQ(ear.next(), "watching");
  cluster.node(1).kill();
  cluster.node(2).kill();
  const std::string expected = "etcd " + cluster.node(0).endpoint() + ": no leader";
  Error error;
  // A leader that lost the others does not know it at once, and answers till then.
  for (const TimePoint end = BootClock::now() + kBound;
       error.message.find(expected) == std::string::npos && BootClock::now() < end;) {
    error = error_of(get(bed.keep_alive({7})));
  }
  EXPECT_THAT(error.message, HasSubstr(expected));
  cluster.node(1).restart();
  EXPECT_EQ(ear.next(), "watching") << "at the same server, over another stream";
}

TEST_F(EtcdFailoverTest, WithoutAMajorityThereIsNoLeaderAndNothingRuns) {
  DriverBed bed{target_of(cluster_)};
  put_at_last(bed, "k", "1");
  cluster_.node(1).kill();
  cluster_.node(2).kill();
  Error error;
  // A leader that lost the others does not know it at once.
  for (int i = 0; i < 20 && error.code != Errc::unavailable; ++i) {
    error = error_of(get(bed.put("k", "2", 2s)));
  }
  EXPECT_EQ(error.code, Errc::unavailable);
  EXPECT_THAT(error.message, HasSubstr("etcd " + first().endpoint() + ": no leader"));
  EXPECT_THAT(error.message, HasSubstr(cluster_.node(1).endpoint() + ": connection refused"));
  EXPECT_EQ(error.nodes.size(), 3U);
  cluster_.node(1).restart();
  put_at_last(bed, "k", "3");
}

// Every answer is true: what was answered is there, what "has not run" is not, and the rest may be.
TEST_F(EtcdFailoverTest, AnswersAreTrueWhileLeadersChange) {
  DriverBed bed{target_of(cluster_)};
  put_at_last(bed, "k", "v");
  std::vector<std::string> written;
  std::vector<std::string> not_written;
  for (int round = 0; round < 3; ++round) {
    std::vector<std::pair<std::string, std::future<Result<TxnAnswer>>>> puts;
    const std::size_t leader = cluster_.wait_for_leader();
    for (int i = 0; i < 200; ++i) {
      // How many are answered by then is up to the machine, but some are.
      if (i == 100) puts.front().second.wait();
      if (i == 100) cluster_.node(leader).kill();
      const std::string key = std::to_string(round) + '/' + std::to_string(i);
      puts.emplace_back(key, bed.put(key, "v", 2s));
    }
    for (auto& [key, future] : puts) {
      const auto answer = get(std::move(future));
      if (answer) written.push_back(key);
      if (error_of(answer).code == Errc::unavailable) not_written.push_back(key);
    }
    cluster_.node(leader).restart();
  }
  const auto is_there = [&](const std::string& key) {
    const Txn look{.then = {Range{.keys = {key}}}};
    auto found = get(bed.commit(look));
    for (int i = 0; i < 20 && !found; ++i) found = get(bed.commit(look));
    return found && found->answers[0].count == 1;
  };
  EXPECT_FALSE(written.empty());
  for (const std::string& key : written) EXPECT_TRUE(is_there(key)) << key;
  for (const std::string& key : not_written) EXPECT_FALSE(is_there(key)) << key;
}

TEST(EtcdRestartTest, WhatDidNotLeaveWaitsForTheServer) {
  EtcdCluster cluster;
  DriverBed bed{target_of(cluster)};
  Ear ear;
  bed.on_env([&] { bed.driver()->watch({.keys = {"k"}}, ear.on_watch()); });
  EXPECT_EQ(ear.next(), "watching");
  cluster.node(0).kill();
  // Found broken by this one at the latest.
  EXPECT_NE(error_of(get(bed.put("k", "1", 300ms))).code, Errc::internal);
  auto answer = bed.put("k", "2");
  cluster.node(0).restart();
  EXPECT_TRUE(get(std::move(answer)));
  EXPECT_EQ(next_change(ear), "put k=2");
}

TEST(EtcdPingTest, PingsAreRarerThanServersAllow) {
  constexpr Duration kServersAllow = 5s;
  EXPECT_GE(EtcdDriverSettings{}.ping_every, 2 * kServersAllow);
}

// Servers end connections that are tried too often. What was open is opened again, and the
// connection is tried less often.
TEST(EtcdPingTest, TooManyPingsAreAnInterruptionLikeAnyOther) {
  EtcdCluster cluster{{.settings = {.arguments = {"--grpc-keepalive-min-time", "1h"}}}};
  DriverBed bed{target_of(cluster), {.ping_every = 1s}};
  Ear ear;
  bed.on_env([&] { bed.driver()->watch({.keys = {"k"}}, ear.on_watch()); });
  EXPECT_EQ(ear.next(), "watching");
  EXPECT_EQ(ear.next(), "watching") << "the server did not mind";
  put_at_last(bed, "k", "1");
  EXPECT_EQ(next_change(ear), "put k=1");
}

TEST(EtcdClusterFactsTest, TheDoctorCanAsk) {
  EtcdCluster cluster{{.nodes = 3}};
  DriverBed bed{target_of(cluster)};
  std::promise<Result<MemberStatus>> status;
  std::promise<Result<std::vector<Member>>> members;
  std::promise<Result<std::vector<ClusterAlarm>>> alarms;
  bed.on_env([&] {
    const TimePoint by = bed.env().now() + kBound;
    bed.driver()->status(1, by, [&](auto answer) { status.set_value(std::move(answer)); });
    bed.driver()->members(by, [&](auto answer) { members.set_value(std::move(answer)); });
    bed.driver()->alarms(by, [&](auto answer) { alarms.set_value(std::move(answer)); });
  });
  const auto said = get(status.get_future());
  ASSERT_TRUE(said) << error_of(said).message;
  EXPECT_THAT(said->version, HasSubstr("3."));
  EXPECT_NE(said->leader, 0U);
  EXPECT_NE(said->header.member, 0U);
  EXPECT_GT(said->db_size, 0);
  const auto list = get(members.get_future());
  ASSERT_TRUE(list) << error_of(list).message;
  ASSERT_EQ(list->size(), 3U);
  EXPECT_FALSE((*list)[0].client_urls.empty());
  const auto raised = get(alarms.get_future());
  ASSERT_TRUE(raised) << error_of(raised).message;
  EXPECT_TRUE(raised->empty());
}

}  // namespace
}  // namespace holdfast::etcd
