// Leaders that are killed while others work.

#include <gtest/gtest.h>

#include "tests/campaigns/leader_kills.h"
#include "tests/zookeeper/zookeeper_ensemble.h"

namespace holdfast::zookeeper {
namespace {

TEST(LeaderKillsTest, NothingIsLostAndEverybodyGoesOn) {
  ZookeeperEnsemble ensemble{ZookeeperEnsemble::Shape{.nodes = 3}};
  std::size_t leader = 0;
  campaigns::run_leader_kills({.url = "zookeeper://" + ensemble.endpoints(),
                               .ttl = Millis{4000},
                               .kill_leader =
                                   [&] {
                                     leader = ensemble.wait_for_leader();
                                     ensemble.node(leader).kill();
                                     static_cast<void>(ensemble.wait_for_leader());
                                   },
                               .restart = [&] { ensemble.node(leader).restart(); }});
}

}  // namespace
}  // namespace holdfast::zookeeper

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
