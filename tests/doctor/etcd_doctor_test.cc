#include <gtest/gtest.h>

#include "holdfast/client.h"
#include "tests/doctor/ids.h"
#include "tests/etcd/etcd_cluster.h"
#include "tests/redis/certificates.h"

namespace holdfast {
namespace {

using etcd::EtcdCluster;
using Ids = std::set<std::string>;

std::string url_of(const EtcdCluster& cluster) {
  return "etcd://" + cluster.endpoints() + "?timeout=10s";
}

/// Without what depends on the release that is installed, and on the machine's speed.
Ids found(const std::string& url) {
  Ids all = ids(diagnose(url));
  for (const char* id : {"leases_end_early", "revision_goes_back", "slow", "slow_disk"}) {
    all.erase(id);
  }
  return all;
}

class EtcdDoctorTest : public testing::Test {
 protected:
  /// One for all tests.
  static EtcdCluster& alone() {
    static EtcdCluster cluster;
    return cluster;
  }
};

TEST_F(EtcdDoctorTest, AServerAloneIsFoundToBeSo) {
  EXPECT_EQ(found(url_of(alone())), Ids{"one_member"});
  const auto diagnosis = diagnose(url_of(alone()));
  ASSERT_TRUE(diagnosis);
  EXPECT_NE(diagnosis->engine.find(alone().endpoints()), std::string::npos);
  EXPECT_TRUE(core::is_safe(diagnosis->findings));
}

TEST_F(EtcdDoctorTest, LeavesNothingBehind) {
  static_cast<void>(diagnose(url_of(alone()) + "&prefix=doctor/"));
  EXPECT_EQ(alone().must({"get", "--prefix", "doctor/", "--keys-only"}), "");
}

TEST_F(EtcdDoctorTest, MembersThatAreDownOrNotNamedAreFound) {
  EtcdCluster cluster{EtcdCluster::Shape{.nodes = 3}};
  EXPECT_EQ(found(url_of(cluster)), Ids{});
  EXPECT_EQ(found("etcd://" + cluster.node(0).endpoint()), Ids{"one_endpoint"});
  EXPECT_EQ(found("etcd://" + cluster.node(0).endpoint() + ',' + cluster.node(1).endpoint()),
            Ids{"unnamed_members"});
  cluster.node(1).kill();
  static_cast<void>(cluster.wait_for_leader());
  const auto diagnosis = diagnose(url_of(cluster));
  ASSERT_TRUE(diagnosis) << diagnosis.error().message;
  ASSERT_FALSE(diagnosis->findings.empty());
  EXPECT_EQ(diagnosis->findings[0].id, "member_down");
  EXPECT_NE(diagnosis->findings[0].message.find(cluster.node(1).endpoint()), std::string::npos);
}

TEST_F(EtcdDoctorTest, SettingsThatAreWrongAreFound) {
  EtcdCluster cluster{EtcdCluster::Shape{
      .settings = {.arguments = {"--heartbeat-interval=300", "--election-timeout=3000"}}}};
  EXPECT_EQ(found(url_of(cluster)), (Ids{"one_member", "ttl_raised"}));
}

TEST_F(EtcdDoctorTest, TheRightsOfAUserAreTriedOverTls) {
  redis::Authority authority;
  authority.vouch_for("server", "IP:127.0.0.1");
  const etcd::EtcdTls tls{.ca_file = authority.ca_file(),
                          .cert_file = authority.cert_file("server"),
                          .key_file = authority.key_file("server")};
  EtcdCluster cluster{EtcdCluster::Shape{.settings = {.tls = tls},
                                         .ctl_arguments = {"--cacert=" + authority.ca_file()}}};
  cluster.enable_auth("root secret", "app", "secret", "hf/");
  const std::string url =
      "etcds://app:secret@" + cluster.endpoints() + "?ca=" + authority.ca_file();
  EXPECT_EQ(found(url), Ids{"one_member"});
  const Ids elsewhere = found(url + "&prefix=other/");
  EXPECT_TRUE(elsewhere.contains("denied_read"));
  EXPECT_TRUE(elsewhere.contains("denied_write"));
}

TEST_F(EtcdDoctorTest, AClusterThatIsNotThereIsAnError) {
  const auto diagnosis = diagnose("etcd://127.0.0.1:1?timeout=300ms");
  ASSERT_FALSE(diagnosis);
  EXPECT_EQ(diagnosis.error().code, Errc::unavailable);
}

}  // namespace
}  // namespace holdfast
