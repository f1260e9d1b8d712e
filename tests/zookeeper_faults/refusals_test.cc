// What goes wrong with an ensemble, as a program sees it: the error names the server and the cause,
// in time.

#include <gtest/gtest.h>

#include <deque>

#include "holdfast/client.h"
#include "holdfast/store.h"
#include "tests/contract/patience.h"
#include "tests/redis/fake_server.h"
#include "tests/servers/refusal.h"
#include "tests/zookeeper/zookeeper_ensemble.h"

namespace holdfast::zookeeper {
namespace {

using namespace std::chrono_literals;

using servers::connected;
using servers::expect_error;
using servers::kSlack;
using servers::kTimeout;
using servers::refusal;

class ZookeeperRefusalsTest : public testing::Test {
 protected:
  /// One for all tests that do not break it.
  static ZookeeperEnsemble& alone() {
    static ZookeeperEnsemble only;
    return only;
  }
};

TEST_F(ZookeeperRefusalsTest, AChrootThatIsNotThere) {
  const std::string there = alone().endpoints();
  expect_error(refusal("zookeeper://" + there + "/no/such"), Errc::not_found, there, "/no/such");
}

TEST_F(ZookeeperRefusalsTest, NodesOfSomebodyElse) {
  const std::string there = alone().endpoints();
  Client theirs = connected("zookeeper://app:secret@" + there + "?acl=creator&prefix=/guarded");
  auto lease = theirs.acquire("x");
  ASSERT_TRUE(lease) << lease.error().message;
  const Error stranger = refusal("zookeeper://" + there + "?prefix=/guarded");
  expect_error(stranger, Errc::denied, there, "/guarded");
  const Error guessed = refusal("zookeeper://app:guessed@" + there + "?prefix=/guarded");
  expect_error(guessed, Errc::denied, there, "/guarded");
  EXPECT_EQ(guessed.message.find("guessed"), std::string::npos) << guessed.message;
  Client again = connected("zookeeper://app:secret@" + there + "?acl=creator&prefix=/guarded");
  EXPECT_EQ(again.try_acquire("x").error().code, Errc::busy);
}

TEST_F(ZookeeperRefusalsTest, NamesThatAreNoPaths) {
  Client bare = connected("zookeeper://" + alone().endpoints() + "?prefix=");
  for (const char* const name : {"a//b", "a/", "a/../b", ".", "a/./b"}) {
    const auto refused = bare.try_acquire(name);
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().code, Errc::invalid_argument) << name;
    EXPECT_NE(refused.error().message.find(name), std::string::npos) << refused.error().message;
  }
  // Behind a prefix they are names like any other.
  Client client = connected("zookeeper://" + alone().endpoints());
  for (const char* const name : {"a//b", "a/", "a/../b", ".", ".."}) {
    EXPECT_TRUE(client.try_acquire(name)) << name;
  }
}

TEST_F(ZookeeperRefusalsTest, AValueThatTheServersDoNotTake) {
  Client client = connected("zookeeper://" + alone().endpoints());
  auto store = client.store();
  const auto refused = store->put("k", std::string(kValueBytesMax, 'v'));
  ASSERT_FALSE(refused);
  expect_error(refused.error(), Errc::invalid_argument, "", "1000000");
  EXPECT_FALSE(*store->get("k"));
  EXPECT_TRUE(store->put("k", "small"));
}

TEST_F(ZookeeperRefusalsTest, AValueThatAServerWithALowerLimitDoesNotTake) {
  ZookeeperEnsemble ensemble{
      ZookeeperEnsemble::Shape{.settings = {.java = {"-Djute.maxbuffer=100000"}}}};
  Client client = connected("zookeeper://" + ensemble.endpoints() + "?timeout=1s");
  auto store = client.store();
  const TimePoint begin = BootClock::now();
  const auto refused = store->put("k", std::string(200'000, 'v'));
  ASSERT_FALSE(refused);
  EXPECT_LT(BootClock::now() - begin, kTimeout + kSlack);
  // Nobody told what it was: it hangs up.
  expect_error(refused.error(), Errc::unknown_outcome, ensemble.endpoints(), "jute.maxbuffer");
  EXPECT_TRUE(store->put("k", "small"));
}

TEST_F(ZookeeperRefusalsTest, NoMajority) {
  ZookeeperEnsemble ensemble{ZookeeperEnsemble::Shape{.nodes = 3}};
  Client client = connected("zookeeper://" + ensemble.endpoints() + "?timeout=2s");
  ensemble.node(0).kill();
  ensemble.node(1).kill();
  // What is asked before it has noticed may have been done.
  ASSERT_TRUE(contract::eventually([&] { return !ensemble.node(2).is_healthy(); }));
  const TimePoint begin = BootClock::now();
  const auto refused = client.try_acquire("x");
  ASSERT_FALSE(refused);
  EXPECT_LT(BootClock::now() - begin, kTimeout + kSlack);
  expect_error(refused.error(), Errc::unavailable, ensemble.node(2).endpoint(), "quorum");
  expect_error(refused.error(), Errc::unavailable, ensemble.node(0).endpoint(), "refused");
  const auto unread = client.store()->get("k");
  ASSERT_FALSE(unread);
  expect_error(unread.error(), Errc::unavailable, ensemble.node(2).endpoint(), "quorum");
}

TEST_F(ZookeeperRefusalsTest, MoreSessionsThanTheServerTakes) {
  ZookeeperEnsemble ensemble{ZookeeperEnsemble::Shape{.settings = {.max_connections = 3}}};
  const std::string there = ensemble.endpoints();
  std::deque<Client> clients;
  std::deque<Lease> leases;
  std::optional<Error> error;
  for (int i = 0; i < 8 && !error; ++i) {
    const TimePoint begin = BootClock::now();
    auto client = Client::connect("zookeeper://" + there + "?timeout=2s");
    if (!client) {
      error = client.error();
    } else if (auto lease = client->acquire(std::to_string(i))) {
      leases.push_back(*std::move(lease));
      clients.push_back(*std::move(client));
    } else {
      error = lease.error();
    }
    EXPECT_LT(BootClock::now() - begin, 2 * kTimeout + kSlack);
  }
  EXPECT_FALSE(clients.empty());
  ASSERT_TRUE(error);
  expect_error(*error, Errc::unavailable, there, "maxClientCnxns");
}

TEST_F(ZookeeperRefusalsTest, NoZookeeperServer) {
  redis::FakeServer server{"-ERR unknown command\r\n", "-ERR unknown command\r\n"};
  const std::string there = "127.0.0.1:" + std::to_string(server.port());
  const Error error = refusal("zookeeper://" + there);
  expect_error(error, Errc::corrupt, there, "does not answer as a ZooKeeper server");
}

TEST_F(ZookeeperRefusalsTest, NobodyThere) {
  const std::string there = "127.0.0.1:" + std::to_string(free_port());
  expect_error(refusal("zookeeper://" + there), Errc::unavailable, there, "refused");
}

}  // namespace
}  // namespace holdfast::zookeeper
