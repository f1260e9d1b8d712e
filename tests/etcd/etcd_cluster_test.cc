// The servers that other tests stand on do what they are told.

#include "tests/etcd/etcd_cluster.h"

#include <gtest/gtest.h>

namespace holdfast::etcd {
namespace {

TEST(EtcdCluster, KeepsWhatItHasAcrossRestarts) {
  EtcdCluster cluster;
  cluster.must({"put", "key", "value"});
  cluster.node(0).stop();
  EXPECT_FALSE(cluster.node(0).is_healthy());
  EXPECT_NE(cluster.etcdctl({"--command-timeout=300ms", "get", "key"}).status, 0);
  cluster.node(0).restart();
  EXPECT_EQ(cluster.must({"get", "key", "--print-value-only"}), "value\n");
}

TEST(EtcdCluster, ElectsAnotherLeaderWhenOneIsKilledOrStopped) {
  EtcdCluster cluster{{.nodes = 3}};
  const std::size_t first = cluster.wait_for_leader();
  cluster.node(first).kill();
  const std::size_t second = cluster.wait_for_leader();
  EXPECT_NE(second, first);
  cluster.node(first).restart();
  cluster.node(second).pause();
  EXPECT_NE(cluster.wait_for_leader(), second);
  cluster.node(second).resume();
  cluster.wait_until_healthy();
  cluster.must({"put", "key", "value"});
}

TEST(EtcdCluster, RestrictsUsersToTheirPrefix) {
  EtcdCluster cluster;
  cluster.enable_auth("secret", "app", "word", "hf/");
  EXPECT_EQ(cluster.etcdctl({"put", "elsewhere", "value"}).status, 0);
  EXPECT_NE(cluster.etcdctl({"--user=app:word", "put", "elsewhere", "value"}).status, 0);
}

}  // namespace
}  // namespace holdfast::etcd
