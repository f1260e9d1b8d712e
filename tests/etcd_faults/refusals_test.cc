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
using servers::kSlack;
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
  Error error;
  // One that was left alone does not know at once that nobody leads: till then it does not answer.
  for (int i = 0; i < 20 && error.message.find("no leader") == std::string::npos; ++i) {
    const TimePoint begin = BootClock::now();
    const auto refused = client.try_acquire("x");
    EXPECT_LT(BootClock::now() - begin, kTimeout + kSlack);
    ASSERT_FALSE(refused);
    error = refused.error();
    EXPECT_TRUE(error.code == Errc::unavailable || error.code == Errc::unknown_outcome)
        << error.message;
  }
  expect_error(error, Errc::unavailable, cluster.node(2).endpoint(), "no leader");
  const auto unread = client.store()->get("k");
  ASSERT_FALSE(unread);
  expect_error(unread.error(), Errc::unavailable, cluster.node(2).endpoint(), "no leader");
}

// Nobody else has the lock, or has opened the resource: that it is not held any more is enough.
TEST(EtcdRefusalsTest, WriteAfterTheRelease) {
  EtcdCluster cluster;
  Client client = connected("etcd://" + cluster.endpoints());
  auto lease = client.acquire("x");
  ASSERT_TRUE(lease);
  auto resource = client.store()->open("ledger", *lease);
  ASSERT_TRUE(resource && resource->write("held"));
  ASSERT_EQ(lease->release(), ReleaseOutcome::released);
  const auto late = resource->write("late");
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Errc::stale_token) << late.error().message;
  EXPECT_EQ((*client.store()->get("ledger"))->value, "held");
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
  expect_error(refusal("etcd://" + there), Errc::corrupt, there, "is not etcd");
}

}  // namespace
}  // namespace holdfast::etcd
