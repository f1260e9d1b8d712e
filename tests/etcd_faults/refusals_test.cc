// What goes wrong with a cluster, as a program sees it: the error names the endpoint and the cause,
// in time.

#include <gtest/gtest.h>

#include "holdfast/client.h"
#include "holdfast/store.h"
#include "tests/etcd/etcd_cluster.h"
#include "tests/redis/fake_server.h"
#include "tests/servers/refusal.h"

namespace holdfast::etcd {
namespace {

using namespace std::chrono_literals;

using servers::connected;
using servers::expect_error;
using servers::kTimeout;
using servers::refusal;

TEST(EtcdRefusalsTest, WrongPasswordAndMissingRights) {
  EtcdCluster cluster;
  cluster.enable_auth("root secret", "app", "secret", "hf/");
  const std::string there = cluster.endpoints();
  const Error guessed = refusal("etcd://app:guessed@" + there);
  expect_error(guessed, Errc::denied, there, "authentication failed");
  EXPECT_EQ(guessed.message.find("guessed"), std::string::npos) << guessed.message;
  expect_error(refusal("etcd://" + there), Errc::denied, there, "user name is empty");
  expect_error(refusal("etcd://app:secret@" + there + "?prefix=other/"),
               Errc::denied,
               there,
               "permission denied");
  EXPECT_TRUE(connected("etcd://app:secret@" + there).try_acquire("x"));
}

TEST(EtcdRefusalsTest, NoMajority) {
  EtcdCluster cluster{EtcdCluster::Shape{.nodes = 3}};
  Client client = connected("etcd://" + cluster.endpoints() + "?timeout=2s");
  cluster.node(0).kill();
  cluster.node(1).kill();
  const std::string there = cluster.node(2).endpoint();
  const TimePoint begin = BootClock::now();
  const auto refused = client.try_acquire("x");
  ASSERT_FALSE(refused);
  EXPECT_LT(BootClock::now() - begin, 10 * kTimeout);
  const Errc code = refused.error().code;
  EXPECT_TRUE(code == Errc::unavailable || code == Errc::unknown_outcome) << to_string(code);
  EXPECT_NE(refused.error().message.find("127.0.0.1:"), std::string::npos)
      << refused.error().message;
  EXPECT_EQ(client.store()->get("k").error().code, Errc::unavailable);
}

TEST(EtcdRefusalsTest, ValueThatTheServerDoesNotTake) {
  EtcdCluster cluster{
      EtcdCluster::Shape{.settings = {.arguments = {"--max-request-bytes=100000"}}}};
  Client client = connected("etcd://" + cluster.endpoints());
  auto store = client.store();
  const auto refused = store->put("k", std::string(400'000, 'v'));
  ASSERT_FALSE(refused);
  expect_error(refused.error(), Errc::invalid_argument, cluster.endpoints(), "too large");
  EXPECT_FALSE(*store->get("k"));
  EXPECT_TRUE(store->put("k", "small"));
}

TEST(EtcdRefusalsTest, SpaceThatIsUsedUp) {
  EtcdCluster cluster{
      EtcdCluster::Shape{.settings = {.arguments = {"--quota-backend-bytes=2000000"}}}};
  Client client = connected("etcd://" + cluster.endpoints());
  auto store = client.store();
  const std::string value(200'000, 'v');
  Errc code{};
  for (int i = 0; i < 1000 && code == Errc{}; ++i) {
    const auto put = store->put("k" + std::to_string(i % 4), value);
    if (!put) code = put.error().code;
  }
  EXPECT_EQ(code, Errc::no_space);
  const auto refused = client.try_acquire("x");
  ASSERT_FALSE(refused);
  expect_error(refused.error(), Errc::no_space, cluster.endpoints(), "space");
}

TEST(EtcdRefusalsTest, NoEtcdServer) {
  redis::FakeServer server{"-ERR unknown command\r\n", "-ERR unknown command\r\n"};
  const std::string there = "127.0.0.1:" + std::to_string(server.port());
  const Error error = refusal("etcd://" + there);
  EXPECT_TRUE(error.code == Errc::corrupt || error.code == Errc::unavailable) << error.message;
  EXPECT_NE(error.message.find(there), std::string::npos) << error.message;
}

}  // namespace
}  // namespace holdfast::etcd
