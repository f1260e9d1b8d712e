// The server of whoever holds a lock stops where it is, and its connections stay: the holder is
// told that the lock is lost before another is granted it, and what it does then is refused.

#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "holdfast/client.h"
#include "holdfast/store.h"
#include "tests/contract/patience.h"
#include "tests/zookeeper/zookeeper_ensemble.h"

namespace holdfast::zookeeper {
namespace {

using namespace std::chrono_literals;

constexpr auto kTtl = 4s;
constexpr auto kPatience = 60s;

Client connected(const std::string& url) {
  auto client = Client::connect(url);
  if (!client) throw std::runtime_error{client.error().message};
  return *std::move(client);
}

class CutOffTest : public testing::Test {
 protected:
  /// `holder` talks to that server alone, `waiter` to the other two.
  void begin(std::size_t server) {
    std::string others;
    for (std::size_t i = 0; i < ensemble_.size(); ++i) {
      if (i != server) others += (others.empty() ? "" : ",") + ensemble_.node(i).endpoint();
    }
    holder_ = connected("zookeeper://" + ensemble_.node(server).endpoint());
    waiter_ = connected("zookeeper://" + others);
    lease_ = holder_->acquire("x", {.ttl = kTtl}).value();
    resource_ = holder_->store()->open("r", *lease_).value();
    ASSERT_TRUE(resource_->write("held"));
    on_loss_.emplace(lease_->stop_token(), [this] { lost_at_ = BootClock::now(); });
    granted_ = std::async(std::launch::async, [this] {
      auto lease = waiter_->acquire("x", {.ttl = kTtl, .wait = kPatience});
      granted_at_ = BootClock::now();
      return lease;
    });
    ASSERT_TRUE(
        contract::eventually([this] { return waiter_->inspect("x")->waiters.size() == 1; }));
  }

  /// After the servers were cut off: the order of what was told, and who may still write.
  void expect_handed_on() {
    ASSERT_EQ(granted_.wait_for(kPatience), std::future_status::ready);
    auto next = granted_.get();
    ASSERT_TRUE(next) << next.error().message;
    EXPECT_GT(next->token(), lease_->token());
    EXPECT_NE(lost_at_.load(), TimePoint{});
    EXPECT_LT(lost_at_.load(), granted_at_.load());
    auto resource = waiter_->store()->open("r", *next);
    ASSERT_TRUE(resource) << resource.error().message;
    EXPECT_TRUE(resource->write("next"));
  }

  /// Once its server serves again.
  void expect_old_holder_refused() {
    ASSERT_TRUE(contract::eventually([this] {
      const auto late = resource_->write("late");
      EXPECT_FALSE(late);
      return !late && late.error().code == Errc::stale_token;
    }));
    const auto entry = waiter_->store()->get("r");
    ASSERT_TRUE(entry && *entry);
    EXPECT_EQ((*entry)->value, "next");
  }

  /// A leader gives up a follower that is silent for two seconds.
  ZookeeperEnsemble ensemble_{ZookeeperEnsemble::Shape{.nodes = 3, .settings = {.sync_limit = 4}}};
  std::optional<Client> holder_;
  std::optional<Client> waiter_;
  std::optional<Lease> lease_;
  std::optional<Resource> resource_;
  std::atomic<TimePoint> lost_at_{TimePoint{}};
  std::atomic<TimePoint> granted_at_{TimePoint{}};
  std::optional<std::stop_callback<std::function<void()>>> on_loss_;
  std::future<Result<Lease, AcquireError>> granted_;
};

TEST_F(CutOffTest, WhoHoldsThroughAFollowerThatStopsIsToldInTime) {
  const std::size_t follower = ensemble_.wait_for_follower();
  begin(follower);
  ensemble_.node(follower).pause();
  expect_handed_on();
  ensemble_.node(follower).resume();
  expect_old_holder_refused();
}

TEST_F(CutOffTest, WhoHoldsThroughALeaderThatStopsIsToldInTime) {
  const std::size_t leader = ensemble_.wait_for_leader();
  begin(leader);
  ensemble_.node(leader).pause();
  expect_handed_on();
  ensemble_.node(leader).resume();
  expect_old_holder_refused();
}

}  // namespace
}  // namespace holdfast::zookeeper
