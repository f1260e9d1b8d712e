// What an observer hears of locks, on every engine, and that their times add up at its store.

#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <thread>

#include "holdfast/lock_times.h"
#include "tests/contract/contract.h"

namespace holdfast::contract {
namespace {

using enum EventKind;

class Recorder final : public Observer {
 public:
  void observe(const Event& event) noexcept override {
    const std::lock_guard lock{mutex_};
    kinds_.push_back(event.kind);
    contended_ = contended_ || event.contended;
  }
  std::vector<EventKind> kinds() const {
    const std::lock_guard lock{mutex_};
    return kinds_;
  }
  bool contended() const {
    const std::lock_guard lock{mutex_};
    return contended_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<EventKind> kinds_;
  bool contended_{false};
};

class ObservedContract : public ContractTest {};
HOLDFAST_CONTRACT(ObservedContract);

TEST_P(ObservedContract, LeasesAreToldFromGrantToRelease) {
  const auto recorder = std::make_shared<Recorder>();
  Client watched = observed(client(), recorder);
  auto lease = watched.acquire("x");
  ASSERT_TRUE(lease) << lease.error().message;
  EXPECT_FALSE(watched.try_acquire("x"));
  EXPECT_TRUE(lease->renew());
  EXPECT_EQ(lease->release(), ReleaseOutcome::released);
  EXPECT_EQ(recorder->kinds(), (std::vector{acquired, refused, renewed, released}));
}

TEST_P(ObservedContract, WaitIsToldAsContention) {
  const auto recorder = std::make_shared<Recorder>();
  Client watched = observed(client(), recorder);
  ASSERT_TRUE(watched.acquire("free"));
  const TimePoint before = BootClock::now();
  ASSERT_TRUE(watched.acquire("free"));
  const Duration unhindered = BootClock::now() - before;
  auto lease = client().acquire("x");
  ASSERT_TRUE(lease);
  const TimePoint began = BootClock::now();
  std::jthread waiter{[&] { EXPECT_TRUE(watched.acquire("x")); }};
  // Engines with servers tell a wait from a round trip by how long it takes.
  EXPECT_TRUE(eventually([&] { return BootClock::now() > began + 10 * unhindered + 100ms; }));
  lease->release();
  waiter.join();
  EXPECT_TRUE(recorder->contended());
}

TEST_P(ObservedContract, LossIsToldWithItsReason) {
  const auto recorder = std::make_shared<Recorder>();
  Client watched = observed(client(), recorder);
  auto lease = watched.acquire("x");
  ASSERT_TRUE(lease);
  ASSERT_TRUE(watched.break_lock("x", "test"));
  EXPECT_EQ(lease->release(), ReleaseOutcome::already_lost);
  const auto kinds = recorder->kinds();
  EXPECT_EQ(std::ranges::count(kinds, lost), 1);
  EXPECT_EQ(std::ranges::count(kinds, broken), 1);
}

TEST_P(ObservedContract, TimesOfSeveralClientsAddUpAtTheStore) {
  const auto first = std::make_shared<TimesRecorder>();
  const auto second = std::make_shared<TimesRecorder>();
  Client one = observed(client(), first);
  Client other = observed(reconnect(), second);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(one.acquire("x"));
    ASSERT_TRUE(other.acquire("x"));
  }
  if (!GetParam().can.store) {
    EXPECT_EQ(first->flush(one).error().code, Errc::unsupported);
    EXPECT_EQ(lock_times(one, "x").error().code, Errc::unsupported);
    return;
  }
  ASSERT_TRUE(first->flush(one));
  ASSERT_TRUE(second->flush(other));
  const auto times = lock_times(one, "x");
  ASSERT_TRUE(times && *times);
  EXPECT_EQ((*times)->wait.samples, 6u);
  EXPECT_LE((*times)->hold.samples, 6u);
}

}  // namespace
}  // namespace holdfast::contract
