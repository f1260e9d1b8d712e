// A server that sentinels watch, and its replica that takes over.

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <mutex>
#include <thread>

#include "tests/redis_ha/cluster_bed.h"
#include "tests/redis_ha/sentinel_bed.h"

namespace holdfast::ha {
namespace {

using namespace std::chrono_literals;

class SentinelTest : public testing::Test {
 protected:
  Client connect(const std::string& parameters = "?timeout=30s") const {
    auto client = Client::connect(bed_.url(parameters));
    if (!client) throw std::runtime_error{client.error().message};
    return *std::move(client);
  }
  /// What was written has reached the replica.
  bool replicated() { return bed_.command(0, {"WAIT", "1", "30000"}).integer == 1; }
  /// The replica learns of nothing any more, not even of what is on its way.
  void cut_off_the_replica() {
    bed_.server(1).pause();
    ASSERT_EQ(bed_.command(0, {"CLIENT", "KILL", "TYPE", "replica"}).integer, 1);
  }

  SentinelBed bed_;
};

TEST_F(SentinelTest, TheMasterIsFoundByItsName) {
  Client client = connect();
  const auto lease = client.try_acquire("ledger");
  ASSERT_TRUE(lease);
  EXPECT_FALSE(bed_.command(0, {"GET", "hf:ledger"}).text.empty());
  ASSERT_TRUE(client.store()->put("key", "value"));
}

TEST_F(SentinelTest, OperationsGoOnAfterAFailover) {
  Client client = connect();
  auto held = client.try_acquire("held", {.ttl = 10min});
  ASSERT_TRUE(held);
  ASSERT_TRUE(client.store()->put("key", "value"));
  ASSERT_TRUE(replicated());
  bed_.server(0).kill();
  const auto refused = client.try_acquire("held");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::busy) << refused.error().message;
  EXPECT_TRUE(held->renew());
  EXPECT_EQ(client.store()->get("key").value().value().value, "value");
  EXPECT_FALSE(bed_.command(1, {"GET", "hf:held"}).text.empty());
}

// Nothing breaks then: the old master goes on, refuses to write, and the sentinels tell.
TEST_F(SentinelTest, AFailoverOfALivingMasterIsNoticed) {
  Client client = connect();
  auto held = client.try_acquire("held", {.ttl = 10min});
  ASSERT_TRUE(held);
  ASSERT_TRUE(replicated());
  bed_.ask_for_failover();
  const auto is_master = [&] {
    const auto role = bed_.command(1, {"ROLE"});
    return !role.items.empty() && role.items[0].text == "master";
  };
  ASSERT_TRUE(eventually(is_master));
  EXPECT_TRUE(eventually([&] { return client.try_acquire("other").has_value(); }));
  ASSERT_TRUE(eventually([&] { return held->renew().has_value(); }));
  EXPECT_EQ(held->state(), LeaseState::held);
}

TEST_F(SentinelTest, ALeaseTheNewMasterDoesNotKnowIsLostToTheFailover) {
  Client client = connect();
  cut_off_the_replica();
  auto held = client.try_acquire("held", {.ttl = 1min});
  ASSERT_TRUE(held);
  bed_.server(0).kill();
  bed_.server(1).resume();
  const auto is_lost = [&] {
    const auto renewed = held->renew();
    return !renewed && renewed.error().code == Errc::lost;
  };
  ASSERT_TRUE(eventually(is_lost));
  EXPECT_EQ(held->loss_reason(), LossReason::failed_over);
  const auto next = client.try_acquire("held");
  ASSERT_TRUE(next) << next.error().message;
  EXPECT_GT(next->token(), held->token());
}

TEST_F(SentinelTest, WhoWaitsIsToldByTheNewMaster) {
  Client holder = connect();
  Client waiter = connect();
  auto held = holder.acquire("held", {.ttl = 10min});
  ASSERT_TRUE(held);
  auto next = std::async(std::launch::async,
                         [&] { return waiter.acquire("held", {.ttl = 10min, .wait = 60s}); });
  ASSERT_TRUE(eventually([&] { return holder.inspect("held")->waiters.size() == 1; }));
  ASSERT_TRUE(replicated());
  bed_.server(0).kill();
  ASSERT_TRUE(eventually([&] {
    return bed_.command(1, {"PUBSUB", "NUMSUB"}).kind == redis::Reply::Kind::array &&
           bed_.command(1, {"PUBSUB", "CHANNELS", "hf:?wake:*"}).items.size() == 2;
  })) << "both processes hear";
  EXPECT_EQ(held->release(), ReleaseOutcome::released);
  ASSERT_EQ(next.wait_for(kPatience), std::future_status::ready);
  EXPECT_TRUE(next.get());
}

TEST_F(SentinelTest, AMasterThatNobodyKnowsIsNamed) {
  std::string url = bed_.url();
  url.replace(url.find("/main"), 5, "/other");
  const auto client = Client::connect(url);
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code, Errc::invalid_argument);
  EXPECT_NE(client.error().message.find("no master called 'other'"), std::string::npos)
      << client.error().message;
}

}  // namespace
}  // namespace holdfast::ha
