#include <gtest/gtest.h>

#include "holdfast/client.h"
#include "tests/doctor/ids.h"
#include "tests/ports/redis_process.h"

namespace holdfast {
namespace {

using ports::RedisProcess;
using Ids = std::set<std::string>;

std::string url_of(const RedisProcess& server) { return "redis+unix://" + server.socket(); }

TEST(RedisDoctorTest, NothingIsWrongWithAServerSetUpForLocks) {
  const RedisProcess server{{"--appendonly", "yes", "--appendfsync", "always"}};
  const auto diagnosis = diagnose(url_of(server));
  EXPECT_EQ(ids(diagnosis), Ids{});
  EXPECT_TRUE(core::is_safe(diagnosis->findings));
  EXPECT_NE(diagnosis->engine.find(server.socket()), std::string::npos);
}

TEST(RedisDoctorTest, AServerThatKeepsNothingIsNotSafe) {
  const RedisProcess server;
  const auto diagnosis = diagnose(url_of(server));
  EXPECT_EQ(ids(diagnosis), Ids{"no_persistence"});
  EXPECT_FALSE(core::is_safe(diagnosis->findings));
}

TEST(RedisDoctorTest, EverySettingThatIsWrongIsFound) {
  const RedisProcess server{{"--appendonly",
                             "yes",
                             "--appendfsync",
                             "everysec",
                             "--maxmemory",
                             "100mb",
                             "--maxmemory-policy",
                             "volatile-ttl",
                             "--timeout",
                             "60",
                             "--tcp-keepalive",
                             "0"}};
  EXPECT_EQ(ids(diagnose(url_of(server))),
            (Ids{"fsync_not_always", "eviction", "cuts_idle_connections", "no_keepalive"}));
}

TEST(RedisDoctorTest, AReplicaIsFoundFromBothSides) {
  const std::string port = std::to_string(ports::free_port());
  const RedisProcess master{{"--port", port, "--appendonly", "yes", "--appendfsync", "always"}};
  const RedisProcess replica{{"--replicaof",
                              "127.0.0.1 " + port,
                              "--appendonly",
                              "yes",
                              "--appendfsync",
                              "always",
                              "--repl-diskless-sync-delay",
                              "0"}};
  Ids of_replica;
  Ids of_master;
  const TimePoint end = BootClock::now() + std::chrono::seconds{30};
  // They need a moment to find each other.
  while (BootClock::now() < end && of_master.empty()) of_master = ids(diagnose(url_of(master)));
  of_replica = ids(diagnose(url_of(replica)));
  EXPECT_EQ(of_master, Ids{"failover_loses_locks"});
  EXPECT_TRUE(of_replica.contains("replica"));
}

/// A server with a user `app`, who has these rules.
class ServerWithUser {
 public:
  explicit ServerWithUser(const std::vector<std::string>& rules) : server_{arguments(rules)} {}

  std::string url() const { return "redis+unix://app:secret@" + server_.socket(); }

 private:
  static std::vector<std::string> arguments(const std::vector<std::string>& rules) {
    std::vector<std::string> words{"--appendonly", "yes", "--appendfsync", "always"};
    words.insert(words.end(), {"--user", "app", "on", ">secret"});
    words.insert(words.end(), rules.begin(), rules.end());
    return words;
  }

  RedisProcess server_;
};

TEST(RedisDoctorTest, TheRightsOfAUserAreTried) {
  const ServerWithUser server{
      {"~hf:*", "~{hf:*", "&hf:*", "+@all", "-lpop", "-hset", "-subscribe"}};
  EXPECT_EQ(ids(diagnose(server.url())), (Ids{"denied_lpop", "denied_hset", "no_messages"}));
}

TEST(RedisDoctorTest, WhatSharedLocksAndTheStoreNeedIsTriedToo) {
  const ServerWithUser server{{"~hf:*", "~{hf:*", "&hf:*", "+@all", "-hlen", "-hgetall", "-xadd"}};
  EXPECT_EQ(ids(diagnose(server.url())), (Ids{"denied_hlen", "denied_hgetall", "denied_xadd"}));
}

TEST(RedisDoctorTest, KeysAndChannelsOutOfReachAreTried) {
  const ServerWithUser server{{"~other:*", "&other:*", "+@all"}};
  const auto diagnosis = diagnose(server.url());
  ASSERT_TRUE(diagnosis);
  ASSERT_FALSE(diagnosis->findings.empty());
  EXPECT_EQ(diagnosis->findings.front().severity, core::Severity::danger);
  EXPECT_NE(diagnosis->findings.front().fix.find("~hf:* ~{hf:*"), std::string::npos);
}

TEST(RedisDoctorTest, AUserThatMayNotAskIsToldSo) {
  const ServerWithUser server{{"~hf:*", "~{hf:*", "&hf:*", "+@all", "-info", "-config"}};
  EXPECT_EQ(ids(diagnose(server.url())), Ids{"not_examined"});
}

TEST(RedisDoctorTest, LeavesNothingBehind) {
  const RedisProcess server{{"--appendonly", "yes", "--appendfsync", "always"}};
  ASSERT_EQ(ids(diagnose(url_of(server))), Ids{});
  auto client = Client::connect(url_of(server));
  ASSERT_TRUE(client);
  EXPECT_TRUE(client->list()->empty());
}

TEST(RedisDoctorTest, AServerThatIsNotThereIsAnError) {
  const auto diagnosis = diagnose("redis+unix:///nowhere/at/all?timeout=300ms");
  ASSERT_FALSE(diagnosis);
  EXPECT_EQ(diagnosis.error().code, Errc::unavailable);
}

}  // namespace
}  // namespace holdfast
