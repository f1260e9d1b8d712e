// Locks and values on a cluster whose slots move.

#include <gtest/gtest.h>

#include <future>
#include <set>

#include "tests/redis_ha/cluster_bed.h"

namespace holdfast::ha {
namespace {

using namespace std::chrono_literals;
using ports::RedisCluster;

class ClusterTest : public testing::Test {
 protected:
  static constexpr std::size_t kMasters = 3;

  std::string url(const std::string& parameters = "") const {
    return "redis+cluster://" + cluster_.addresses() + parameters;
  }
  Client connect(const std::string& parameters = "") const {
    auto client = Client::connect(url(parameters));
    if (!client) throw std::runtime_error{client.error().message};
    return *std::move(client);
  }
  std::uint16_t slot_of(const std::string& name) const { return redis::hash_slot("hf:" + name); }

  RedisCluster cluster_{{.masters = kMasters}};
};

TEST_F(ClusterTest, LocksOfAllMastersAreListedAndLieWhereOthersLookForThem) {
  Client client = connect();
  std::vector<Lease> leases;
  std::set<std::string> names;
  for (std::size_t master = 0; master < kMasters; ++master) {
    const std::string name = name_on(cluster_, master);
    auto lease = client.try_acquire(name);
    ASSERT_TRUE(lease) << lease.error().message;
    leases.push_back(*std::move(lease));
    names.insert(name);
    EXPECT_FALSE(cluster_.command(master, {"GET", "hf:" + name}).text.empty());
  }
  std::set<std::string> listed;
  const auto locks = client.list();
  ASSERT_TRUE(locks) << locks.error().message;
  for (const LockInfo& info : *locks) listed.insert(info.name);
  EXPECT_EQ(listed, names);
}

TEST_F(ClusterTest, ALockOfAnotherClientIsRespected) {
  const std::string name = name_on(cluster_, 1);
  cluster_.command(1, {"SET", "hf:" + name, "foreign", "NX", "PX", "60000"});
  Client client = connect();
  const auto refused = client.try_acquire(name);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::busy);
  EXPECT_TRUE(refused.error().holder.value().foreign);
}

TEST_F(ClusterTest, BracesAreRefusedWithTheReason) {
  Client client = connect();
  for (const char* const name : {"a{b}c", "a{b", "a}b"}) {
    for (const Error& error : {static_cast<Error>(client.try_acquire(name).error()),
                               client.inspect(name).error(),
                               client.break_lock(name, "test").error()}) {
      EXPECT_EQ(error.code, Errc::invalid_argument) << name;
      EXPECT_NE(error.message.find("braces"), std::string::npos) << error.message;
    }
  }
  EXPECT_EQ(client.store()->put("}a", "value").error().code, Errc::invalid_argument);
  const auto refused = Client::connect(url("?prefix=a{b}"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::invalid_argument);
}

TEST_F(ClusterTest, TokensOfALockRise) {
  Client client = connect();
  Token last{0};
  for (int i = 0; i < 20; ++i) {
    const auto lease = client.try_acquire("ledger");
    ASSERT_TRUE(lease);
    EXPECT_GT(lease->token(), last);
    last = lease->token();
  }
}

/// Whether a waiter is told of a release: it would look by itself only after a third of its TTL.
void expect_pushed_hand_over(Client holder, Client waiter, const std::string& name) {
  auto lease = holder.acquire(name, {.ttl = 10min});
  ASSERT_TRUE(lease);
  auto next = std::async(std::launch::async,
                         [&] { return waiter.acquire(name, {.ttl = 10min, .wait = kPatience}); });
  ASSERT_TRUE(eventually([&] { return holder.inspect(name)->waiters.size() == 1; }));
  EXPECT_EQ(lease->release(), ReleaseOutcome::released);
  ASSERT_EQ(next.wait_for(kPatience), std::future_status::ready);
  EXPECT_TRUE(next.get());
}

TEST_F(ClusterTest, AReleaseIsToldToTheNextInItsSlotAlone) {
  for (std::size_t master = 0; master < kMasters; ++master) {
    Client holder = connect();
    Client waiter = connect();
    expect_pushed_hand_over(holder, waiter, name_on(cluster_, master));
    EXPECT_TRUE(eventually([&] {
      return cluster_.command(master, {"PUBSUB", "SHARDCHANNELS", "hf:*"}).items.size() == 2;
    })) << "both hear there";
    EXPECT_EQ(cluster_.command(master, {"PUBSUB", "CHANNELS", "hf:?wake:*"}).items.size(), 0U);
  }
}

// As on servers before Redis 7.
TEST_F(ClusterTest, WithoutShardedMessagesAReleaseIsToldEverywhere) {
  for (std::size_t node = 0; node < kMasters; ++node) {
    cluster_.command(
        node,
        {"ACL", "SETUSER", "app", "on", ">pw", "~*", "&*", "+@all", "-spublish", "-ssubscribe"});
  }
  const std::string as_app = "redis+cluster://app:pw@" + cluster_.addresses();
  for (std::size_t master = 0; master < kMasters; ++master) {
    auto holder = Client::connect(as_app);
    auto waiter = Client::connect(as_app);
    ASSERT_TRUE(holder && waiter);
    expect_pushed_hand_over(*holder, *waiter, name_on(cluster_, master));
  }
}

TEST_F(ClusterTest, LocksGoOnWhenTheirSlotHasMoved) {
  const std::string name = name_on(cluster_, 0);
  Client client = connect();
  Client other = connect();
  auto lease = client.try_acquire(name, {.ttl = 10min});
  ASSERT_TRUE(lease);
  auto next = std::async(std::launch::async,
                         [&] { return other.acquire(name, {.ttl = 10min, .wait = kPatience}); });
  ASSERT_TRUE(eventually([&] { return client.inspect(name)->waiters.size() == 1; }));
  Migration{cluster_, slot_of(name), 0, 2}.finish();
  EXPECT_TRUE(lease->renew());
  // The subscription moves, too, or the release would not be heard.
  ASSERT_TRUE(eventually([&] {
    return cluster_.command(2, {"PUBSUB", "SHARDCHANNELS"}).items.size() == 1;
  }));
  EXPECT_EQ(lease->release(), ReleaseOutcome::released);
  ASSERT_EQ(next.wait_for(kPatience), std::future_status::ready);
  const auto second = next.get();
  ASSERT_TRUE(second);
  EXPECT_GT(second->token(), lease->token());
}

TEST_F(ClusterTest, AnAcquireWaitsForASlotThatIsBeingMoved) {
  const std::string name = name_on(cluster_, 0);
  Client client = connect("?timeout=30s");
  ASSERT_TRUE(client.try_acquire(name)) << "leaves its counter behind";
  Migration migration{cluster_, slot_of(name), 0, 1};
  auto acquired = std::async(std::launch::async, [&] { return client.try_acquire(name); });
  EXPECT_EQ(acquired.wait_for(100ms), std::future_status::timeout);
  migration.finish();
  ASSERT_EQ(acquired.wait_for(kPatience), std::future_status::ready);
  EXPECT_TRUE(acquired.get());
}

TEST_F(ClusterTest, AValueIsAskedForWhereItHasGone) {
  Client client = connect();
  Store store = client.store().value();
  ASSERT_TRUE(store.put("key", "value"));
  const std::uint16_t slot = redis::hash_slot("key");
  const std::size_t from = cluster_.master_of("key");
  Migration migration{cluster_, slot, from, (from + 1) % kMasters};
  migration.move_keys();
  EXPECT_EQ(store.get("key").value().value().value, "value");
  migration.finish();
  EXPECT_EQ(store.get("key").value().value().value, "value");
}

TEST_F(ClusterTest, OneSeedThatAnswersIsEnough) {
  const std::string name = name_on(cluster_, 2);
  const std::string nobody = "127.0.0.1:" + std::to_string(ports::free_port());
  auto client = Client::connect("redis+cluster://" + nobody +
                                ",127.0.0.1:" + std::to_string(cluster_.port(0)));
  ASSERT_TRUE(client) << client.error().message;
  EXPECT_TRUE(client->try_acquire(name));
}

}  // namespace
}  // namespace holdfast::ha
