#include <gtest/gtest.h>

#include "holdfast/client.h"
#include "tests/doctor/ids.h"
#include "tests/zookeeper/zookeeper_ensemble.h"

namespace holdfast {
namespace {

using zookeeper::ZookeeperEnsemble;
using Ids = std::set<std::string>;

std::string url_of(const ZookeeperEnsemble& ensemble) {
  return "zookeeper://" + ensemble.endpoints() + "?timeout=10s";
}

/// Without what depends on the machine's speed.
Ids found(const std::string& url) {
  Ids all = ids(diagnose(url));
  for (const char* id : {"slow", "slow_disk", "overloaded"}) all.erase(id);
  return all;
}

class ZookeeperDoctorTest : public testing::Test {
 protected:
  /// One for all tests.
  static ZookeeperEnsemble& alone() {
    static ZookeeperEnsemble ensemble;
    return ensemble;
  }
};

TEST_F(ZookeeperDoctorTest, AServerAloneIsFoundToBeSo) {
  EXPECT_EQ(found(url_of(alone())), Ids{"one_server"});
  const auto diagnosis = diagnose(url_of(alone()));
  ASSERT_TRUE(diagnosis) << diagnosis.error().message;
  EXPECT_NE(diagnosis->engine.find(alone().endpoints()), std::string::npos);
  EXPECT_TRUE(core::is_safe(diagnosis->findings));
}

TEST_F(ZookeeperDoctorTest, LeavesNothingBehind) {
  const auto nodes = [] {
    const std::string told = alone().node(0).tell("srvr");
    return told.substr(told.find("Node count"));
  };
  const std::string before = nodes();
  ASSERT_TRUE(diagnose(url_of(alone()) + "&prefix=/doctor/of/locks"));
  EXPECT_EQ(nodes(), before);
}

TEST_F(ZookeeperDoctorTest, NodesOfSomebodyElseAreFound) {
  const std::string there = "zookeeper://app:secret@" + alone().endpoints();
  ASSERT_TRUE(Client::connect(there + "?acl=creator&prefix=/guarded"));
  EXPECT_EQ(found(there + "?acl=creator&prefix=/guarded"), Ids{"one_server"});
  const Ids strangers = found(url_of(alone()) + "&prefix=/guarded");
  EXPECT_TRUE(strangers.contains("denied_create"));
  EXPECT_TRUE(strangers.contains("denied_read"));
}

TEST_F(ZookeeperDoctorTest, ServersThatAreDownOrNotNamedAreFound) {
  ZookeeperEnsemble ensemble{ZookeeperEnsemble::Shape{.nodes = 3}};
  EXPECT_EQ(found(url_of(ensemble)), Ids{});
  EXPECT_EQ(found("zookeeper://" + ensemble.node(0).endpoint()), Ids{"one_endpoint"});
  ensemble.node(1).kill();
  static_cast<void>(ensemble.wait_for_leader());
  const auto diagnosis = diagnose(url_of(ensemble));
  ASSERT_TRUE(diagnosis) << diagnosis.error().message;
  ASSERT_FALSE(diagnosis->findings.empty());
  EXPECT_EQ(diagnosis->findings[0].id, "server_down");
  EXPECT_NE(diagnosis->findings[0].message.find(ensemble.node(1).endpoint()), std::string::npos);
}

TEST_F(ZookeeperDoctorTest, SettingsThatAreWrongAreFound) {
  ZookeeperEnsemble ensemble{
      ZookeeperEnsemble::Shape{.settings = {.min_session_timeout = Millis{6000},
                                            .max_session_timeout = Millis{20'000},
                                            .max_connections = 10,
                                            .java = {"-Dzookeeper.forceSync=no"}}}};
  EXPECT_EQ(found(url_of(ensemble)),
            (Ids{"one_server", "ttl_raised", "ttl_lowered", "few_connections", "no_fsync"}));
}

TEST_F(ZookeeperDoctorTest, TtlsAreHeldAgainstTheOneThatIsAskedFor) {
  const auto found_for = [](Millis ttl) {
    Ids all = ids(diagnose(url_of(alone()), ttl));
    for (const char* id : {"slow", "slow_disk", "overloaded", "one_server"}) all.erase(id);
    return all;
  };
  EXPECT_EQ(found_for(Millis{100}), Ids{"ttl_raised"});
  EXPECT_EQ(found_for(std::chrono::hours{24}), Ids{"ttl_lowered"});
  const auto none = diagnose(url_of(alone()), Millis{0});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Errc::invalid_argument);
}

TEST_F(ZookeeperDoctorTest, ServersThatDoNotTellAreFound) {
  ZookeeperEnsemble ensemble{
      ZookeeperEnsemble::Shape{.settings = {.lines = {"4lw.commands.whitelist=ruok,srvr"}}}};
  EXPECT_EQ(found(url_of(ensemble)), (Ids{"one_server", "not_examined"}));
}

}  // namespace
}  // namespace holdfast
