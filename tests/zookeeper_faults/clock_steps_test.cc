// The wall clock of the server steps: locks do not notice. What the store keeps for a time does, as
// its page says.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <future>

#include "holdfast/client.h"
#include "holdfast/store.h"
#include "tests/campaigns/let_pass.h"
#include "tests/contract/patience.h"
#include "tests/zookeeper/zookeeper_ensemble.h"

namespace holdfast::zookeeper {
namespace {

using namespace std::chrono_literals;

constexpr auto kTtl = 3s;

/// The server's clock, which the test sets.
class SteppedClock {
 public:
  SteppedClock() {
    file_ = mkstemp(path_.data());
    step(0h);
    setenv("HOLDFAST_CLOCK_STEP", path_.c_str(), 1);
    setenv("LD_PRELOAD", HOLDFAST_CLOCK_SHIM, 1);
  }
  ~SteppedClock() {
    unsetenv("LD_PRELOAD");
    close(file_);
    unlink(path_.c_str());
  }
  SteppedClock(const SteppedClock&) = delete;
  SteppedClock& operator=(const SteppedClock&) = delete;

  void step(std::chrono::hours ahead) {
    const std::int64_t seconds = std::chrono::seconds{ahead}.count();
    ASSERT_EQ(pwrite(file_, &seconds, sizeof seconds, 0), static_cast<ssize_t>(sizeof seconds));
  }

 private:
  std::string path_{"/tmp/holdfast-clock-XXXXXX"};
  int file_{-1};
};

Client connected(const ZookeeperEnsemble& ensemble) {
  auto client = Client::connect("zookeeper://" + ensemble.endpoints());
  if (!client) throw std::runtime_error{client.error().message};
  return *std::move(client);
}

TEST(ClockStepsTest, LocksDoNotNotice) {
  SteppedClock clock;
  ZookeeperEnsemble ensemble;
  Client holder = connected(ensemble);
  Client waiter = connected(ensemble);
  auto lease = holder.acquire("x", {.ttl = kTtl});
  ASSERT_TRUE(lease) << lease.error().message;
  auto resource = holder.store()->open("r", *lease);
  ASSERT_TRUE(resource);
  auto next = std::async(std::launch::async, [&] { return waiter.acquire("x", {.ttl = kTtl}); });
  ASSERT_TRUE(contract::eventually([&] { return waiter.inspect("x")->waiters.size() == 1; }));
  for (const auto ahead : {1h, -1h, 48h}) {
    clock.step(ahead);
    campaigns::let_pass(kTtl);
    EXPECT_TRUE(lease->ensure_held());
    EXPECT_TRUE(resource->write("held"));
    EXPECT_EQ(next.wait_for(0s), std::future_status::timeout);
  }
  EXPECT_EQ(lease->release(), ReleaseOutcome::released);
  const auto taken = next.get();
  ASSERT_TRUE(taken) << taken.error().message;
  EXPECT_GT(taken->token(), lease->token());
}

TEST(ClockStepsTest, WhatIsKeptForATimeGoesByTheClockOfTheServer) {
  SteppedClock clock;
  ZookeeperEnsemble ensemble;
  const auto run = [](const Lease&) { return OnceResult{.bytes = "result"}; };
  ASSERT_TRUE(connected(ensemble).store()->once("k", run, {.keep = 30min}));
  EXPECT_TRUE(connected(ensemble).store()->once_result("k").value());
  clock.step(1h);
  EXPECT_FALSE(connected(ensemble).store()->once_result("k").value());
}

}  // namespace
}  // namespace holdfast::zookeeper
