#include "core/session_backend.h"

#include <gtest/gtest.h>

#include <future>

#include "core/session_testing.h"
#include "core/store_backend.h"
#include "runtime/asio_env.h"

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;
using testing::eventually;
using testing::kPatience;

class SessionBackendTest : public ::testing::Test {
 protected:
  AcquireResult acquire(const AcquireOptions& options = {}, std::stop_token stop = {}) {
    return backend_->acquire("x", options, std::move(stop));
  }

  std::future<AcquireResult> async_acquire(const AcquireOptions& options = {},
                                           std::stop_token stop = {}) {
    const auto promise = std::make_shared<std::promise<AcquireResult>>();
    const auto callback = [promise](AcquireResult result) { promise->set_value(result); };
    backend_->async_acquire("x", options, std::move(stop), callback);
    return promise->get_future();
  }

  template <class T>
  static T get(std::future<T> future) {
    EXPECT_EQ(future.wait_for(kPatience), std::future_status::ready);
    return future.get();
  }

  bool is_held() { return server_->is_held("x", BootClock::now()); }
  bool wait_for_waiters(int count) {
    return eventually([&] { return server_->waiting == count; });
  }
  bool engine_is_gone() {
    return eventually([&] { return server_->destroyed_by.load() != std::thread::id{}; });
  }

  std::shared_ptr<testing::FakeServer> server_{std::make_shared<testing::FakeServer>()};
  std::shared_ptr<SessionBackend> backend_ = testing::start(*runtime::AsioEnv::create(), server_);
};

// The counter is bare: were two threads inside at once, ThreadSanitizer or the sum would tell.
TEST_F(SessionBackendTest, ThreadsNeverMeetInside) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 50;
  int count = 0;
  std::vector<std::future<void>> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.push_back(std::async(std::launch::async, [&] {
      for (int n = 0; n < kRounds; ++n) {
        const auto lease = acquire();
        ASSERT_TRUE(lease) << lease.error().message;
        ++count;
        EXPECT_EQ((*lease)->release(), ReleaseOutcome::released);
      }
    }));
  }
  for (auto& thread : threads) thread.get();
  EXPECT_EQ(count, kThreads * kRounds);
}

TEST_F(SessionBackendTest, BusyNamesTheHolder) {
  const auto held = acquire({.label = "nightly", .trace_id = "abc"});
  ASSERT_TRUE(held);
  const auto refused = acquire({.wait = 0ms});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::busy);
  ASSERT_TRUE(refused.error().holder);
  EXPECT_EQ(refused.error().holder->owner_fp, (*held)->owner().fingerprint());
  EXPECT_EQ(refused.error().holder->label, "nightly");
  EXPECT_EQ(refused.error().holder->trace_id, "abc");
  EXPECT_NE(refused.error().message.find("\"x\" is held by"), std::string::npos);
}

TEST_F(SessionBackendTest, TimeoutComesNotEarlyAndNamesTheHolder) {
  const auto held = acquire();
  ASSERT_TRUE(held);
  const TimePoint asked_at = BootClock::now();
  const auto refused = acquire({.wait = 50ms});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::timeout);
  EXPECT_GE(BootClock::now() - asked_at, 50ms);
  ASSERT_TRUE(refused.error().holder);
}

// The one behind is in the queue of this process and never asks the engine.
TEST_F(SessionBackendTest, TimeoutInTheOwnQueueNamesTheHolderToo) {
  const auto held = acquire();
  ASSERT_TRUE(held);
  std::stop_source stop;
  auto first = async_acquire({}, stop.get_token());
  ASSERT_TRUE(wait_for_waiters(1));
  const auto refused = acquire({.wait = 20ms});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::timeout);
  ASSERT_TRUE(refused.error().holder);
  EXPECT_EQ(refused.error().holder->owner_fp, (*held)->owner().fingerprint());
  stop.request_stop();
  EXPECT_EQ(get(std::move(first)).error().code, Errc::cancelled);
}

TEST_F(SessionBackendTest, CancelEndsTheWaitAtTheEngineAndInTheQueue) {
  const auto held = acquire();
  ASSERT_TRUE(held);
  std::stop_source stop;
  std::vector<std::future<Errc>> waits;
  for (int i = 0; i < 3; ++i) {
    waits.push_back(
        std::async(std::launch::async, [&] { return acquire({}, stop.get_token()).error().code; }));
  }
  ASSERT_TRUE(wait_for_waiters(1));
  stop.request_stop();
  for (auto& wait : waits) EXPECT_EQ(get(std::move(wait)), Errc::cancelled);
  EXPECT_EQ(server_->waiting, 0);
}

TEST_F(SessionBackendTest, VeryLongWaitsDoNotOverflow) {
  const auto held = acquire();
  ASSERT_TRUE(held);
  for (const Millis wait : {kForever, kForever - 1ms, Millis{std::chrono::hours{24 * 366 * 300}}}) {
    std::stop_source stop;
    auto waiting = async_acquire({.wait = wait}, stop.get_token());
    ASSERT_TRUE(wait_for_waiters(1));
    stop.request_stop();
    EXPECT_EQ(get(std::move(waiting)).error().code, Errc::cancelled);
  }
}

TEST_F(SessionBackendTest, AsyncCallbacksRunNeitherHereNorOnTheEnvsThread) {
  std::promise<std::thread::id> ran_on;
  std::promise<std::thread::id> env_thread;
  backend_->env().post([&] { env_thread.set_value(std::this_thread::get_id()); });
  backend_->async_acquire("x", {}, {}, [&](AcquireResult result) {
    EXPECT_TRUE(result);
    EXPECT_EQ((*result)->release(), ReleaseOutcome::released);
    ran_on.set_value(std::this_thread::get_id());
  });
  const std::thread::id id = get(ran_on.get_future());
  EXPECT_NE(id, std::this_thread::get_id());
  EXPECT_NE(id, get(env_thread.get_future()));
}

TEST_F(SessionBackendTest, AResultNobodyTakesReleasesItsLease) {
  std::promise<void> called;
  backend_->async_acquire("x", {}, {}, [&](const AcquireResult&) { called.set_value(); });
  get(called.get_future());
  EXPECT_TRUE(eventually([&] { return !is_held(); }));
}

TEST_F(SessionBackendTest, WhatTheEngineCannotDoIsRefusedWithTheReason) {
  const std::vector<AcquireOptions> beyond{
      {.mode = Mode::shared}, {.mode = Mode::permit, .permits = 2}, {.lock_delay = 1s}};
  for (const AcquireOptions& options : beyond) {
    const auto refused = acquire(options);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::unsupported);
    EXPECT_NE(refused.error().message.find("fake://here has no "), std::string::npos);
    EXPECT_EQ(get(async_acquire(options)).error().code, Errc::unsupported);
  }
  EXPECT_EQ(backend_->store().error().code, Errc::unsupported);
}

TEST_F(SessionBackendTest, AnEngineThatIsBusyToTheLastIsATimeout) {
  server_->refusal = Errc::busy;
  EXPECT_EQ(acquire({.wait = 0ms}).error().code, Errc::busy);
  EXPECT_EQ(acquire({.wait = 30ms}).error().code, Errc::timeout);
  server_->refusal = Errc::denied;
  EXPECT_EQ(acquire().error().code, Errc::denied);
  EXPECT_EQ(acquire().error().message, "as told");
}

TEST_F(SessionBackendTest, TellsWhoHoldsWhat) {
  const auto held = acquire();
  ASSERT_TRUE(held);
  const auto info = backend_->inspect("x");
  ASSERT_TRUE(info);
  EXPECT_EQ(info->holders.at(0).token, (*held)->token());
  EXPECT_TRUE(backend_->inspect("y")->holders.empty());
  EXPECT_EQ(backend_->list("")->size(), 1U);
  EXPECT_TRUE(backend_->list("y")->empty());
  EXPECT_EQ(backend_->break_lock("x", "test")->holders.size(), 1U);
  EXPECT_EQ(backend_->break_lock("x", "test").error().code, Errc::not_found);
}

TEST_F(SessionBackendTest, ASilentEngineIsUnavailable) {
  backend_ = testing::start(*runtime::AsioEnv::create(), server_, 20ms);
  server_->silent = true;
  EXPECT_EQ(backend_->inspect("x").error().code, Errc::unavailable);
  EXPECT_EQ(backend_->list("").error().code, Errc::unavailable);
  const testing::Stall stall{backend_->env()};
  EXPECT_EQ(backend_->inspect("x").error().code, Errc::unavailable);
}

TEST_F(SessionBackendTest, WatchTellsWhatIsAndWhatChanges) {
  const auto held = acquire();
  ASSERT_TRUE(held);
  std::stop_source stop;
  std::promise<void> seen_granted;
  std::promise<void> seen_released;
  auto watching = std::async(std::launch::async, [&] {
    const auto callback = [&](const LockEvent& event) {
      (event.change == LockChange::granted ? seen_granted : seen_released).set_value();
    };
    return backend_->watch("", callback, stop.get_token());
  });
  get(seen_granted.get_future());
  (*held)->release();
  get(seen_released.get_future());
  stop.request_stop();
  EXPECT_TRUE(get(std::move(watching)));
}

class NoStore final : public StoreBackend {
 public:
  StoreResult perform(const StoreRequest&) override { return StoreReply{}; }
  void async_perform(StoreRequest, StoreCallback) override {}
};

TEST_F(SessionBackendTest, TheStoreIsOpenedWhenAskedForAndKept) {
  int opened = 0;
  const StoreOpener open = [&]() -> Result<std::shared_ptr<StoreBackend>> {
    if (++opened == 1) return Unexpected{Error{Errc::unavailable, "not yet"}};
    return std::shared_ptr<StoreBackend>{std::make_shared<NoStore>()};
  };
  backend_ = testing::start(*runtime::AsioEnv::create(), server_, kPatience, open);
  EXPECT_EQ(opened, 0);
  EXPECT_EQ(backend_->store().error().code, Errc::unavailable);
  const auto store = backend_->store();
  ASSERT_TRUE(store);
  EXPECT_EQ(*backend_->store(), *store);
  EXPECT_EQ(opened, 2);
}

TEST_F(SessionBackendTest, DestroyingItReleasesWhatWasDroppedJustBefore) {
  auto lease = acquire({.ttl = 1h});
  ASSERT_TRUE(lease);
  (*lease)->drop();
  lease->reset();
  backend_.reset();
  EXPECT_FALSE(is_held());
  EXPECT_EQ(server_->releases, 1);
}

TEST_F(SessionBackendTest, ALeaseKeepsItAlive) {
  auto lease = acquire({.ttl = 150ms});
  ASSERT_TRUE(lease);
  backend_.reset();
  const TimePoint first = (*lease)->valid_until();
  EXPECT_TRUE(eventually([&] { return (*lease)->valid_until() > first + 300ms; }));
  (*lease)->drop();
  lease->reset();
  EXPECT_TRUE(engine_is_gone());
  EXPECT_FALSE(is_held());
}

TEST_F(SessionBackendTest, DestroyingItEndsAsyncWaits) {
  {
    const auto held = acquire({.ttl = 1h, .kind = LeaseKind::detached});
    ASSERT_TRUE(held);
    ASSERT_TRUE((*held)->detach());
  }
  auto at_engine = async_acquire();
  auto behind = async_acquire();
  ASSERT_TRUE(wait_for_waiters(1));
  backend_.reset();
  EXPECT_EQ(get(std::move(at_engine)).error().code, Errc::shutting_down);
  EXPECT_EQ(get(std::move(behind)).error().code, Errc::shutting_down);
  EXPECT_EQ(server_->waiting, 0);
}

TEST_F(SessionBackendTest, TheEngineIsLetGoOnTheEnvsThread) {
  std::promise<std::thread::id> env_thread;
  backend_->env().post([&] { env_thread.set_value(std::this_thread::get_id()); });
  const std::thread::id id = get(env_thread.get_future());
  backend_.reset();
  EXPECT_EQ(server_->destroyed_by.load(), id);
}

TEST_F(SessionBackendTest, TheLastReferenceMayGoOnTheEnvsThread) {
  Env& env = backend_->env();
  const auto last = std::make_shared<std::shared_ptr<SessionBackend>>(std::move(backend_));
  env.post([last] { last->reset(); });
  EXPECT_TRUE(engine_is_gone());
}

TEST_F(SessionBackendTest, TheLastReferenceMayGoInACallback) {
  const auto last = std::make_shared<std::shared_ptr<SessionBackend>>(backend_);
  backend_->async_acquire("x", {.ttl = 1h}, {}, [last](AcquireResult result) {
    EXPECT_TRUE(result);
    last->reset();
  });
  backend_.reset();
  EXPECT_TRUE(engine_is_gone());
  EXPECT_FALSE(is_held());
}

TEST_F(SessionBackendTest, AForkedChildIsToldToConnectAnew) {
  auto held = acquire({.ttl = 1h});
  ASSERT_TRUE(held);
  // Whatever the Env's thread is doing, and whoever has its locks.
  const testing::Stall stall{backend_->env()};
  EXPECT_EQ(testing::in_fork([&] {
              if (acquire({.wait = 0ms}).error().code != Errc::shutting_down) return 1;
              if (backend_->inspect("x").error().code != Errc::shutting_down) return 2;
              if (backend_->list("").error().code != Errc::shutting_down) return 3;
              if (backend_->store().error().code != Errc::shutting_down) return 4;
              Errc told{};
              backend_->async_acquire(
                  "x", {}, {}, [&](const AcquireResult& result) { told = result.error().code; });
              if (told != Errc::shutting_down) return 5;
              (*held)->drop();
              held->reset();
              backend_.reset();
              return 0;
            }),
            0);
  EXPECT_EQ((*held)->state(), LeaseState::held);
  EXPECT_TRUE(is_held());
}

}  // namespace
}  // namespace holdfast::core
