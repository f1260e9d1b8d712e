// Sets of real nodes: founding, refusing strangers, joining again.

#include <gtest/gtest.h>

#include "client/redlock_admin.h"
#include "holdfast/client.h"
#include "tests/ports/redis_process.h"

namespace holdfast::redlock {
namespace {

using namespace std::chrono_literals;

class RedlockSetTest : public testing::Test {
 protected:
  std::string url(const std::vector<std::size_t>& nodes) const {
    std::string url;
    for (const std::size_t node : nodes) {
      url += (url.empty() ? "redlock+unix://" : ",") + nodes_[node].socket();
    }
    return url + "?timeout=500ms";
  }

  Result<NodeSet> found(const std::vector<std::size_t>& nodes,
                        Founding::Anew anew = Founding::Anew::no) const {
    return found_redlock(url(nodes), {.longest_ttl = kLongest, .anew = anew}, nullptr, {});
  }

  static constexpr Millis kLongest{300};
  ports::RedisProcess nodes_[4];
};

TEST_F(RedlockSetTest, NothingIsGivenBeforeTheSetIsFounded) {
  const auto client = Client::connect(url({0, 1, 2}));
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code, Errc::unavailable);
  EXPECT_EQ(client.error().nodes.size(), 3U);
  EXPECT_NE(client.error().remedy().find("redlock init"), std::string::npos);
}

TEST_F(RedlockSetTest, IsFoundedOnceAndByAllNodes) {
  ASSERT_TRUE(found({0, 1, 2}));
  const auto again = found({0, 1, 2});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Errc::invalid_argument);
  EXPECT_EQ(again.error().nodes.size(), 3U);
  nodes_[3].kill();
  EXPECT_EQ(found({0, 1, 3}).error().code, Errc::unavailable);
}

TEST_F(RedlockSetTest, AnotherNumberOfNodesIsRefused) {
  ASSERT_TRUE(found({0, 1, 2}));
  const auto client = Client::connect(url({0, 1, 2, 3}));
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code, Errc::invalid_argument) << client.error().message;
}

TEST_F(RedlockSetTest, AStrangerAmongTheNodesHasNoVote) {
  ASSERT_TRUE(found({0, 1, 2}));
  auto client = Client::connect(url({0, 1, 3}));
  ASSERT_TRUE(client) << client.error().message;
  EXPECT_TRUE(client->try_acquire("x", {.ttl = 200ms}));
  nodes_[1].kill();
  const auto refused = client->try_acquire("y", {.ttl = 200ms});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::unavailable) << refused.error().message;
}

TEST_F(RedlockSetTest, TwoAddressesOfOneNodeAreRefused) {
  ASSERT_TRUE(found({0, 1, 2}));
  const std::string link = nodes_[0].socket() + ".link";
  std::filesystem::create_symlink(nodes_[0].socket(), link);
  const auto client = Client::connect("redlock+unix://" + nodes_[0].socket() + "," + link + "," +
                                      nodes_[2].socket());
  ASSERT_FALSE(client);
  EXPECT_NE(client.error().message.find("same node"), std::string::npos) << client.error().message;
}

TEST_F(RedlockSetTest, ATtlAboveTheLongestIsRefused) {
  ASSERT_TRUE(found({0, 1, 2}));
  auto client = Client::connect(url({0, 1, 2}));
  ASSERT_TRUE(client);
  const auto refused = client->try_acquire("x", {.ttl = kLongest + 1ms});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::invalid_argument);
  EXPECT_NE(refused.error().message.find("TTL"), std::string::npos);
}

TEST_F(RedlockSetTest, RejoiningNeedsAMajorityThatKnowsTheCounters) {
  ASSERT_TRUE(found({0, 1, 2}));
  auto client = Client::connect(url({0, 1, 2}));
  ASSERT_TRUE(client);
  Token last{0};
  for (int i = 0; i < 5; ++i) last = client->acquire("x", {.ttl = 200ms})->token();
  nodes_[1].restart();
  nodes_[2].kill();
  const auto refused = client->try_acquire("x", {.ttl = 200ms});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::unavailable);
  EXPECT_FALSE(rejoin_redlock(url({0, 1, 2}), nodes_[1].socket(), nullptr, {}))
      << "one other node is too few to know the counters";
  // Node 2 has lost its data too: of three, no majority knows the counters any more.
  nodes_[2].restart();
  EXPECT_FALSE(rejoin_redlock(url({0, 1, 2}), nodes_[1].socket(), nullptr, {}));
}

TEST_F(RedlockSetTest, RejoiningWaitsAndTakesOverTheCounters) {
  ASSERT_TRUE(found({0, 1, 2}));
  auto client = Client::connect(url({0, 1, 2}));
  ASSERT_TRUE(client);
  Token last{0};
  for (int i = 0; i < 5; ++i) last = client->acquire("x", {.ttl = 200ms})->token();
  nodes_[1].restart();
  const TimePoint asked_at = BootClock::now();
  Millis total{0};
  const auto set = rejoin_redlock(
      url({0, 1, 2}), nodes_[1].socket(), [&](Millis, Millis all) { total = all; }, {});
  ASSERT_TRUE(set) << set.error().message;
  EXPECT_GE(BootClock::now() - asked_at, kLongest);
  EXPECT_EQ(total, quarantine(kLongest));
  // Node 1 decides now, together with one that forgets.
  nodes_[0].kill();
  auto lease = client->acquire("x", {.ttl = 200ms, .wait = 10s});
  ASSERT_TRUE(lease) << lease.error().message;
  EXPECT_GT(lease->token(), last);
}

TEST_F(RedlockSetTest, ANodeThatHasItsDataHasNothingToRejoin) {
  ASSERT_TRUE(found({0, 1, 2}));
  const auto refused = rejoin_redlock(url({0, 1, 2}), nodes_[1].socket(), nullptr, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::invalid_argument);
  EXPECT_FALSE(rejoin_redlock(url({0, 1, 2}), "elsewhere:1", nullptr, {}));
}

TEST_F(RedlockSetTest, FoundedAnewItBeginsAboveAndRefusesClientsOfBefore) {
  const auto first = found({0, 1, 2});
  ASSERT_TRUE(first);
  auto old_client = Client::connect(url({0, 1, 2}));
  ASSERT_TRUE(old_client);
  const Token before = old_client->acquire("x", {.ttl = 200ms})->token();
  const auto second = found({0, 1, 2, 3}, Founding::Anew::yes);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->epoch, first->epoch + 1);
  EXPECT_EQ(old_client->try_acquire("x", {.ttl = 200ms}).error().code, Errc::unavailable);
  auto client = Client::connect(url({0, 1, 2, 3}));
  ASSERT_TRUE(client) << client.error().message;
  EXPECT_GT(client->acquire("x", {.ttl = 200ms})->token(), before);
}

}  // namespace
}  // namespace holdfast::redlock
