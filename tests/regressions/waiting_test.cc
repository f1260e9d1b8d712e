// Defects of other libraries' waiting, as docs/internals/peer_defects.md numbers them.

#include <algorithm>
#include <future>
#include <sstream>
#include <thread>
#include <vector>

#include "tests/regressions/redis_bed.h"

namespace holdfast::regressions {
namespace {

using Taken = Result<Lease, AcquireError>;

using WaitingRegression = RedisBed;

TEST_F(WaitingRegression, D5_AWaiterDoesNotSpin) {
  Client other = *Client::connect("redis+unix://" + server_.socket());
  auto lease = client_.acquire("x", {.ttl = 60s});
  ASSERT_TRUE(lease);
  auto waiting = std::async(std::launch::async, [&] { return other.acquire("x", {.ttl = 600ms}); });
  ASSERT_TRUE(queued(1));
  raw_.reset_counts();
  const TimePoint begin = BootClock::now();
  let_pass(1500ms);
  EXPECT_LE(raw_.scripts(), 2 * ((BootClock::now() - begin) / 200ms));
  lease->release();
  EXPECT_TRUE(waiting.get());
}

TEST_F(WaitingRegression, D9_ATryDoesNotWait) {
  const auto lease = client_.acquire("x");
  ASSERT_TRUE(lease);
  Client other = *Client::connect("redis+unix://" + server_.socket());
  const auto refused = other.try_acquire("x");
  ASSERT_FALSE(refused) << "nobody releases it: waiting would not end";
  EXPECT_EQ(refused.error().code, Errc::busy);
  EXPECT_TRUE(client_.inspect("x")->waiters.empty());
}

TEST_F(WaitingRegression, D15_ACancelledWaitLeavesNothingBehind) {
  auto lease = client_.acquire("x");
  ASSERT_TRUE(lease);
  Client other = *Client::connect("redis+unix://" + server_.socket());
  std::stop_source stop;
  auto waiting =
      std::async(std::launch::async, [&] { return other.acquire("x", {}, stop.get_token()); });
  ASSERT_TRUE(queued(1));
  stop.request_stop();
  const auto cancelled = waiting.get();
  ASSERT_FALSE(cancelled);
  EXPECT_EQ(cancelled.error().code, Errc::cancelled);
  EXPECT_TRUE(queued(0));
  lease->release();
  EXPECT_TRUE(client_.try_acquire("x"));
}

TEST_F(WaitingRegression, D15_ARequestCancelledWhileItIsGrantedLeavesNothingBehind) {
  Client other = connect_behind_proxy();
  proxy_.hold_replies();
  std::stop_source stop;
  auto pending = std::async(std::launch::async,
                            [&] { return other.acquire("x", {.ttl = 60s}, stop.get_token()); });
  ASSERT_TRUE(eventually([&] { return raw_.ask({"EXISTS", "hf:x"}) == "1"; }));
  stop.request_stop();
  proxy_.deliver();
  // Whichever came first: a lease nobody keeps is given up.
  static_cast<void>(pending.get());
  EXPECT_TRUE(eventually([&] {
    return raw_.ask({"EXISTS", "hf:x"}) == "0";
  })) << "long before its TTL ends";
}

TEST_F(WaitingRegression, D18_ATimedWaitCountsAllItsParts) {
  const auto lease = client_.acquire("x");
  ASSERT_TRUE(lease);
  Client other = *Client::connect("redis+unix://" + server_.socket());
  auto waiting =
      std::async(std::launch::async, [&] { return other.acquire("x", {.wait = 700ms}); });
  // Woken for nothing all the time, a wait that begins anew each time never ends.
  while (waiting.wait_for(20ms) != std::future_status::ready) {
    std::istringstream channels{raw_.ask({"PUBSUB", "CHANNELS"})};
    for (std::string channel; std::getline(channels, channel);) {
      raw_.ask({"PUBLISH", channel, "nobody"});
    }
  }
  const auto refused = waiting.get();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::timeout);
}

TEST_F(WaitingRegression, D18_AWaitEndsWithTheHoldersTtlWhenNobodyTells) {
  raw_.ask({"SET", "hf:x", "theirs", "PX", "400"});
  const auto lease = client_.acquire("x", {.wait = kBound});
  EXPECT_TRUE(lease) << "a foreign holder that dies tells nobody";
}

TEST_F(WaitingRegression, Item9_AReleaseWhileSomebodyBeginsToWaitIsNotMissed) {
  Client other = *Client::connect("redis+unix://" + server_.socket());
  for (int round = 0; round < 300; ++round) {
    auto lease = client_.acquire("x");
    ASSERT_TRUE(lease);
    auto waiting = std::async(std::launch::async, [&] { return other.acquire("x", {.ttl = 60s}); });
    // At another moment of its beginning each time.
    const TimePoint moment = BootClock::now() + round * 2us;
    while (BootClock::now() < moment) continue;
    ASSERT_EQ(lease->release(), ReleaseOutcome::released);
    ASSERT_EQ(waiting.wait_for(10s), std::future_status::ready) << "missed in round " << round;
    ASSERT_TRUE(waiting.get());
  }
}

TEST_F(WaitingRegression, Item9_ASubscriptionThatWasCutCostsALook) {
  auto lease = client_.acquire("x");
  ASSERT_TRUE(lease);
  Client other = *Client::connect("redis+unix://" + server_.socket());
  auto waiting = std::async(std::launch::async, [&] { return other.acquire("x", {.ttl = 60s}); });
  ASSERT_TRUE(queued(1));
  raw_.ask({"CLIENT", "KILL", "TYPE", "pubsub"});
  lease->release();
  EXPECT_EQ(waiting.wait_for(15s), std::future_status::ready) << "before a refresh is due";
  EXPECT_TRUE(waiting.get());
}

TEST_F(WaitingRegression, Item10_ThousandsOfWaitersNeedOneSubscription) {
  Client holder = *Client::connect("redis+unix://" + server_.socket());
  constexpr int kNames = 2000;
  std::vector<Lease> held;
  for (int i = 0; i < kNames; ++i) {
    held.push_back(*holder.acquire("n" + std::to_string(i), {.ttl = 60s}));
  }
  std::vector<std::promise<bool>> granted(kNames);
  for (int i = 0; i < kNames; ++i) {
    client_.async_acquire("n" + std::to_string(i), {.ttl = 60s}, {}, [&granted, i](Taken taken) {
      granted[i].set_value(taken.has_value());
    });
  }
  ASSERT_TRUE(eventually([&] { return client_.inspect("n1999")->waiters.size() == 1; }));
  const std::string listeners = raw_.ask({"CLIENT", "LIST", "TYPE", "pubsub"});
  EXPECT_EQ(std::count(listeners.begin(), listeners.end(), '\n'), 2) << "one for each process";
  held.clear();
  for (auto& promise : granted) {
    auto future = promise.get_future();
    ASSERT_EQ(future.wait_for(kBound), std::future_status::ready);
    EXPECT_TRUE(future.get());
  }
}

TEST_F(WaitingRegression, Item24_AWaiterThatDiedIsPassedOver) {
  auto lease = client_.acquire("x");
  ASSERT_TRUE(lease);
  Client dying = connect_behind_proxy();
  std::stop_source stop;
  auto dead = std::async(std::launch::async,
                         [&] { return dying.acquire("x", {.ttl = 300ms}, stop.get_token()); });
  ASSERT_TRUE(queued(1));
  Client other = *Client::connect("redis+unix://" + server_.socket());
  auto next = std::async(std::launch::async, [&] { return other.acquire("x", {.wait = kBound}); });
  ASSERT_TRUE(queued(2));
  proxy_.refuse();
  let_pass(600ms);
  lease->release();
  ASSERT_EQ(next.wait_for(kBound), std::future_status::ready);
  stop.request_stop();
  proxy_.heal();
  EXPECT_FALSE(dead.get());
}

}  // namespace
}  // namespace holdfast::regressions
