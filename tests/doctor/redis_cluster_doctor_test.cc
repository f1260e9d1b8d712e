#include <gtest/gtest.h>

#include "tests/doctor/ids.h"
#include "tests/ports/redis_cluster.h"
#include "tests/redis_ha/sentinel_bed.h"

namespace holdfast {
namespace {

using ports::RedisCluster;
using Ids = std::set<std::string>;

const std::vector<std::string> kDurable{"--appendonly", "yes", "--appendfsync", "always"};

/// How many findings of that id there are, each of another server.
std::size_t count(const Result<Diagnosis>& diagnosis, const std::string& id) {
  std::set<std::string> messages;
  for (const core::Finding& finding : diagnosis.value().findings) {
    if (finding.id == id) messages.insert(finding.message);
  }
  return messages.size();
}

std::string first_seed(const RedisCluster& cluster, const std::string& parameters = "") {
  return "redis+cluster://127.0.0.1:" + std::to_string(cluster.port(0)) + parameters;
}

TEST(RedisClusterDoctorTest, NothingIsWrongWithAClusterSetUpForLocks) {
  const RedisCluster cluster{{.masters = 3, .arguments = kDurable}};
  EXPECT_EQ(ids(diagnose("redis+cluster://" + cluster.addresses())), Ids{});
}

TEST(RedisClusterDoctorTest, EveryMasterIsExaminedThoughTheUrlHasOne) {
  const RedisCluster cluster{{.masters = 3}};
  const auto diagnosis = diagnose(first_seed(cluster));
  EXPECT_EQ(ids(diagnosis), Ids{"no_persistence"});
  EXPECT_EQ(count(diagnosis, "no_persistence"), 3U);
}

TEST(RedisClusterDoctorTest, ASeedThatIsDownIsPassedByAndAMasterThatIsDownIsNamed) {
  RedisCluster cluster{{.masters = 3, .arguments = kDurable}};
  cluster.node(1).kill();
  const std::string down = "127.0.0.1:" + std::to_string(cluster.port(1));
  const auto diagnosis =
      diagnose("redis+cluster://" + down + ",127.0.0.1:" + std::to_string(cluster.port(0)) +
               "?timeout=500ms");
  EXPECT_EQ(ids(diagnosis), Ids{"unreachable"});
  ASSERT_TRUE(diagnosis);
  EXPECT_NE(diagnosis->findings.front().message.find(down), std::string::npos);
  EXPECT_FALSE(core::is_safe(diagnosis->findings));
}

TEST(RedisClusterDoctorTest, RightsAreTriedAtEveryMaster) {
  RedisCluster cluster{{.masters = 3, .arguments = kDurable}};
  for (std::size_t master = 0; master < cluster.size(); ++master) {
    cluster.command(
        master,
        {"ACL", "SETUSER", "app", "on", ">secret", "~*", "&*", "+@all", "-spublish", "-hlen"});
  }
  const auto diagnosis = diagnose("redis+cluster://app:secret@" + cluster.addresses());
  EXPECT_EQ(ids(diagnosis), (Ids{"denied_hlen", "denied_spublish"}));
  EXPECT_EQ(count(diagnosis, "denied_hlen"), 3U);
}

TEST(RedisClusterDoctorTest, AServerWithoutAClusterIsAnError) {
  const std::string port = std::to_string(ports::free_port());
  const ports::RedisProcess server{{"--port", port}};
  const auto diagnosis = diagnose("redis+cluster://127.0.0.1:" + port);
  ASSERT_FALSE(diagnosis);
  EXPECT_NE(diagnosis.error().message.find("127.0.0.1:" + port), std::string::npos);
}

TEST(RedisSentinelDoctorTest, TheMasterBehindTheSentinelsIsExamined) {
  const ha::SentinelBed bed;
  const auto diagnosis = diagnose(bed.url());
  ASSERT_TRUE(diagnosis) << diagnosis.error().message;
  ASSERT_FALSE(diagnosis->findings.empty()) << "it has a replica for which it does not wait";
  const std::string master = std::to_string(bed.port(0));
  for (const core::Finding& finding : diagnosis->findings) {
    EXPECT_NE(finding.message.find(master), std::string::npos) << finding.message;
  }
}

}  // namespace
}  // namespace holdfast
