// Clusters that lose a master.

#include <gtest/gtest.h>

#include <atomic>

#include "tests/redis/certificates.h"
#include "tests/redis_ha/cluster_bed.h"

namespace holdfast::ha {
namespace {

using namespace std::chrono_literals;
using ports::RedisCluster;

Client connect_to(const RedisCluster& cluster, const std::string& parameters) {
  auto client = Client::connect("redis+cluster://" + cluster.addresses() + parameters);
  if (!client) throw std::runtime_error{client.error().message};
  return *std::move(client);
}

TEST(ClusterFailoverTest, OperationsGoOnAtTheReplicaThatTakesOver) {
  RedisCluster cluster{{.masters = 3, .replicas = 3}};
  Client client = connect_to(cluster, "?timeout=30s");
  const std::string name = name_on(cluster, 0);
  auto held = client.try_acquire(name, {.ttl = 10min});
  ASSERT_TRUE(held);
  auto elsewhere = client.try_acquire(name_on(cluster, 1), {.ttl = 10min});
  ASSERT_TRUE(elsewhere);
  // The replica has it, too.
  ASSERT_EQ(cluster.command(0, {"WAIT", "1", "30000"}).integer, 1);
  cluster.node(0).kill();
  EXPECT_TRUE(elsewhere->renew());
  const auto refused = client.try_acquire(name);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::busy) << refused.error().message;
  EXPECT_TRUE(held->renew());
  EXPECT_EQ(client.list().value().size(), 2U);
}

TEST(ClusterFailoverTest, ALeaseTheReplicaDoesNotKnowIsLostToTheFailover) {
  RedisCluster cluster{{.masters = 3, .replicas = 3}};
  Client client = connect_to(cluster, "?timeout=30s");
  const std::string name = name_on(cluster, 0);
  // The replica learns of nothing any more, not even of what is on its way.
  cluster.node(3).pause();
  ASSERT_EQ(cluster.command(0, {"CLIENT", "KILL", "TYPE", "replica"}).integer, 1);
  auto held = client.try_acquire(name, {.ttl = 1min});
  ASSERT_TRUE(held);
  cluster.node(0).kill();
  cluster.node(3).resume();
  const auto is_lost = [&] {
    const auto renewed = held->renew();
    return !renewed && renewed.error().code == Errc::lost;
  };
  ASSERT_TRUE(eventually(is_lost));
  EXPECT_EQ(held->loss_reason(), LossReason::failed_over);
  const auto next = client.try_acquire(name);
  ASSERT_TRUE(next) << next.error().message;
  EXPECT_GT(next->token(), held->token()) << "the store refuses the one that was lost";
}

TEST(ClusterFailoverTest, AHungMasterDoesNotDelayTheRenewalsAtTheOthers) {
  RedisCluster cluster{{.masters = 3, .arguments = {"--cluster-require-full-coverage", "no"}}};
  Client client = connect_to(cluster, "?timeout=5s");
  std::vector<Lease> leases;
  std::atomic<int> jeopardies{0};
  for (std::size_t master = 0; master < 3; ++master) {
    auto lease = client.try_acquire(name_on(cluster, master), {.ttl = 3s});
    ASSERT_TRUE(lease);
    if (master != 0) {
      lease->on_event([&](const LeaseEvent& event) {
        if (event.state != LeaseState::released) ++jeopardies;
      });
    }
    leases.push_back(*std::move(lease));
  }
  cluster.node(0).pause();
  ASSERT_TRUE(eventually([&] { return leases[0].state() == LeaseState::lost; }));
  EXPECT_EQ(leases[0].loss_reason(), LossReason::expired);
  EXPECT_EQ(leases[1].state(), LeaseState::held);
  EXPECT_EQ(leases[2].state(), LeaseState::held);
  EXPECT_EQ(jeopardies, 0);
  cluster.node(0).resume();
}

TEST(ClusterTlsTest, EveryNodeIsReachedByTls) {
  redis::Authority authority;
  authority.vouch_for("node", "DNS:localhost,IP:127.0.0.1");
  std::vector<std::string> arguments{"--tls-cluster", "yes", "--tls-auth-clients", "no"};
  arguments.insert(arguments.end(), {"--tls-ca-cert-file", authority.ca_file()});
  arguments.insert(arguments.end(), {"--tls-cert-file", authority.cert_file("node")});
  arguments.insert(arguments.end(), {"--tls-key-file", authority.key_file("node")});
  RedisCluster cluster{{.masters = 3, .listen = "--tls-port", .arguments = arguments}};
  auto client =
      Client::connect("rediss+cluster://" + cluster.addresses() + "?ca=" + authority.ca_file());
  ASSERT_TRUE(client) << client.error().message;
  for (std::size_t master = 0; master < 3; ++master) {
    const auto lease = client->try_acquire(name_on(cluster, master));
    EXPECT_TRUE(lease) << lease.error().message;
  }
}

TEST(ClusterFailoverTest, AServerThatIsNoClusterIsNamed) {
  const std::string port = std::to_string(ports::free_port());
  ports::RedisProcess server{{"--port", port}};
  const auto client = Client::connect("redis+cluster://127.0.0.1:" + port);
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code, Errc::invalid_argument);
  EXPECT_EQ(client.error().message,
            "Redis 127.0.0.1:" + port + ": the server is not part of a cluster");
}

TEST(ClusterFailoverTest, WithoutAnyNodeItIsUnavailableByTheTimeout) {
  const std::string port = std::to_string(ports::free_port());
  const auto client = Client::connect("redis+cluster://127.0.0.1:" + port + "?timeout=300ms");
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code, Errc::unavailable);
  EXPECT_NE(client.error().message.find("127.0.0.1:" + port), std::string::npos)
      << client.error().message;
}

}  // namespace
}  // namespace holdfast::ha
