// The servers that other tests stand on do what they are told.

#include "tests/zookeeper/zookeeper_ensemble.h"

#include <gtest/gtest.h>

namespace holdfast::zookeeper {
namespace {

TEST(ZookeeperEnsemble, StandsAloneAsAsked) {
  ZookeeperEnsemble ensemble{{.settings = {.tick = Millis{250}, .max_connections = 7}}};
  EXPECT_EQ(ensemble.node(0).mode(), "standalone");
  const std::string said = ensemble.node(0).tell("conf");
  EXPECT_NE(said.find("tickTime=250\n"), std::string::npos) << said;
  EXPECT_NE(said.find("maxClientCnxns=7\n"), std::string::npos) << said;
  ensemble.node(0).stop();
  EXPECT_FALSE(ensemble.node(0).is_healthy());
  ensemble.node(0).restart();
  EXPECT_EQ(ensemble.wait_for_leader(), 0U);
}

TEST(ZookeeperEnsemble, ElectsAnotherLeaderWhenOneIsKilledOrStopped) {
  ZookeeperEnsemble ensemble{{.nodes = 3}};
  const std::size_t first = ensemble.wait_for_leader();
  ensemble.node(first).kill();
  const std::size_t second = ensemble.wait_for_leader();
  EXPECT_NE(second, first);
  ensemble.node(first).restart();
  ensemble.node(second).pause();
  EXPECT_NE(ensemble.wait_for_leader(), second);
  ensemble.node(second).resume();
  ensemble.wait_until_healthy();
  EXPECT_EQ(ensemble.node(ensemble.wait_for_follower()).mode(), "follower");
}

}  // namespace
}  // namespace holdfast::zookeeper
