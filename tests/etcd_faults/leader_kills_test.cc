// Leaders that are killed while others work.

#include <gtest/gtest.h>

#include "tests/campaigns/leader_kills.h"
#include "tests/etcd/etcd_cluster.h"

namespace holdfast::etcd {
namespace {

TEST(LeaderKillsTest, NothingIsLostAndEverybodyGoesOn) {
  EtcdCluster cluster{EtcdCluster::Shape{.nodes = 3}};
  std::size_t leader = 0;
  campaigns::run_leader_kills({.url = "etcd://" + cluster.endpoints(),
                               .kill_leader =
                                   [&] {
                                     leader = cluster.wait_for_leader();
                                     cluster.node(leader).kill();
                                     static_cast<void>(cluster.wait_for_leader());
                                   },
                               .restart = [&] { cluster.node(leader).restart(); }});
}

}  // namespace
}  // namespace holdfast::etcd
