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
  std::ptrdiff_t count(EventKind kind) const { return std::ranges::count(kinds(), kind); }
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
  EXPECT_TRUE(eventually([&] { return lease->renew().has_value(); }));
  EXPECT_EQ(lease->release(), ReleaseOutcome::released);
  EXPECT_GE(recorder->count(renewed), 1);
  // The engine may have renewed it, too.
  auto kinds = recorder->kinds();
  std::erase(kinds, renewed);
  EXPECT_EQ(kinds, (std::vector{acquired, refused, released}));
}

// Again and again: at `local:`, one who has entered the queue may find the lock free when it looks.
TEST_P(ObservedContract, WaitIsToldAsContention) {
  const auto recorder = std::make_shared<Recorder>();
  Client watched = observed(client(), recorder);
  for (int round = 0; round < 1000 && !recorder->contended(); ++round) {
    auto lease = client().acquire("x");
    ASSERT_TRUE(lease);
    std::jthread waiter{[&] { EXPECT_TRUE(watched.acquire("x")); }};
    EXPECT_TRUE(wait_for_waiters("x", 1));
    lease->release();
  }
  EXPECT_TRUE(recorder->contended());
}

// Not even the first one, which has to connect and to begin a session.
TEST_P(ObservedContract, WhoMeetsNobodyHasNotContended) {
  const auto recorder = std::make_shared<Recorder>();
  Client watched = observed(reconnect(), recorder);
  for (const auto* name : {"x", "y", "x"}) ASSERT_TRUE(watched.acquire(name));
  ASSERT_TRUE(watched.try_acquire("x"));
  EXPECT_FALSE(recorder->contended());
}

TEST_P(ObservedContract, ReadersWhoJoinReadersHaveNotContended) {
  if (!can(&Capabilities::shared, {.mode = Mode::shared})) return;
  const auto recorder = std::make_shared<Recorder>();
  Client watched = observed(client(), recorder);
  const auto elsewhere = reconnect().acquire("x", {.mode = Mode::shared});
  const auto first = watched.acquire("x", {.mode = Mode::shared});
  const auto second = watched.acquire("x", {.mode = Mode::shared});
  ASSERT_TRUE(elsewhere && first && second);
  EXPECT_FALSE(recorder->contended());
}

TEST_P(ObservedContract, RenewalsInTheBackgroundAreTold) {
  const auto recorder = std::make_shared<Recorder>();
  Client watched = observed(client(), recorder);
  auto lease = watched.acquire("x", {.ttl = 3s});
  ASSERT_TRUE(lease);
  EXPECT_TRUE(eventually([&] { return recorder->count(renewed) > 0; }));
  EXPECT_EQ(lease->release(), ReleaseOutcome::released);
}

TEST_P(ObservedContract, LossIsToldWithItsReason) {
  const auto recorder = std::make_shared<Recorder>();
  Client watched = observed(client(), recorder);
  auto lease = watched.acquire("x");
  ASSERT_TRUE(lease);
  ASSERT_TRUE(observed(operator_client(), recorder).break_lock("x", "test"));
  EXPECT_EQ(lease->release(), ReleaseOutcome::already_lost);
  EXPECT_EQ(recorder->count(lost), 1);
  EXPECT_EQ(recorder->count(broken), 1);
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
