#include "holdfast/mutex.h"

#include <gtest/gtest.h>

#include <future>
#include <mutex>
#include <shared_mutex>
#include <system_error>
#include <thread>

#include "client/fake_backend.h"

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using testing::FakeBackend;

/// What `action` throws, or an empty code.
template <class Action>
std::error_code thrown_by(Action action) {
  try {
    action();
  } catch (const std::system_error& error) {
    return error.code();
  }
  return {};
}

struct MutexTest : ::testing::Test {
  void wait_for_waiter(std::string_view name) {
    while (engine->waiting(name) == 0) std::this_thread::yield();
  }

  std::shared_ptr<FakeBackend> engine = std::make_shared<FakeBackend>();
  Client client{engine};
};

TEST_F(MutexTest, WorksWithTheLocksOfTheStandardLibrary) {
  mutex a{client, "a"};
  mutex b{client, "b"};
  shared_mutex c{client, "c"};
  {
    const std::scoped_lock all{a, b, c};
    EXPECT_EQ(client.list()->size(), 3u);
  }
  {
    const std::unique_lock timed{a, 1s};
    EXPECT_TRUE(timed.owns_lock());
    const std::shared_lock reader{c, std::chrono::steady_clock::now() + 1s};
    EXPECT_TRUE(reader.owns_lock());
    EXPECT_EQ(c.lease().mode(), Mode::shared);
  }
  EXPECT_TRUE(client.list()->empty());
}

TEST_F(MutexTest, OptionsReachTheEngine) {
  mutex m{client, "x", {.ttl = 5s, .label = std::string{"nightly"}}};
  const std::scoped_lock guard{m};
  EXPECT_EQ(m.lease().ttl(), 5s);
  EXPECT_EQ(engine->last()->label(), "nightly");
  EXPECT_EQ(m.token(), engine->last()->token());
}

TEST_F(MutexTest, SelfDeadlockIsDetected) {
  mutex m{client, "x"};
  const std::scoped_lock guard{m};
  EXPECT_EQ(thrown_by([&] { m.lock(); }), std::errc::resource_deadlock_would_occur);
  EXPECT_EQ(thrown_by([&] { m.try_lock_for(1s); }), std::errc::resource_deadlock_would_occur);
  EXPECT_FALSE(m.try_lock());

  shared_mutex s{client, "y"};
  const std::shared_lock reader{s};
  EXPECT_EQ(thrown_by([&] { s.lock(); }), std::errc::resource_deadlock_would_occur);
  EXPECT_EQ(thrown_by([&] { s.lock_shared(); }), std::errc::resource_deadlock_would_occur);
  EXPECT_FALSE(s.try_lock());
}

TEST_F(MutexTest, AnotherThreadWaitsOrIsRefused) {
  mutex m{client, "x"};
  std::unique_lock held{m};
  EXPECT_FALSE(std::async(std::launch::async, [&] { return m.try_lock(); }).get());
  EXPECT_FALSE(std::async(std::launch::async, [&] { return m.try_lock_for(1ms); }).get());
  EXPECT_FALSE(std::async(std::launch::async, [&] {
                 return m.try_lock_until(std::chrono::system_clock::now() - 1s);
               }).get());
  const Token first = m.token();
  auto next = std::async(std::launch::async, [&] {
    const std::scoped_lock guard{m};
    return m.token();
  });
  wait_for_waiter("x");
  held.unlock();
  EXPECT_GT(next.get(), first);
}

TEST_F(MutexTest, ReadersShareAndWritersDoNot) {
  shared_mutex s{client, "x"};
  const std::shared_lock mine{s};
  EXPECT_TRUE(std::async(std::launch::async, [&] {
                const std::shared_lock other{s, 10s};
                return other.owns_lock();
              }).get());
  EXPECT_TRUE(std::async(std::launch::async, [&] {
                const bool got = s.try_lock_shared();
                s.unlock_shared();
                return got;
              }).get());
  EXPECT_FALSE(std::async(std::launch::async, [&] { return s.try_lock_for(1ms); }).get());
  EXPECT_FALSE(std::async(std::launch::async, [&] { return s.try_lock(); }).get());
}

// The thread that lost the lock unlocks late, while another thread holds it through this object.
TEST_F(MutexTest, LossIsVisibleAndALateUnlockHarmsNobody) {
  mutex m{client, "x"};
  std::unique_lock held{m};
  const std::stop_token stop = m.lease().stop_token();
  engine->last()->lose(LossReason::expired);
  EXPECT_TRUE(stop.stop_requested());
  EXPECT_EQ(m.lease().ensure_held().error().code, Errc::lost);

  std::promise<void> taken;
  std::promise<void> unlocked;
  auto other = std::async(std::launch::async, [&] {
    const std::scoped_lock guard{m};
    taken.set_value();
    unlocked.get_future().wait();
    return m.lease().ensure_held().has_value();
  });
  taken.get_future().wait();
  held.unlock();
  unlocked.set_value();
  EXPECT_TRUE(other.get());
}

TEST_F(MutexTest, EngineErrorsAreThrown) {
  mutex m{client, "x"};
  engine->fail_with(Errc::unavailable);
  EXPECT_EQ(thrown_by([&] { m.lock(); }), make_error_code(Errc::unavailable));
  EXPECT_EQ(thrown_by([&] { m.try_lock(); }), make_error_code(Errc::unavailable));
  EXPECT_EQ(thrown_by([&] { mutex{client, ""}.lock(); }), make_error_code(Errc::invalid_argument));
}

TEST_F(MutexTest, WithoutTheLockThereIsNoLeaseAndUnlockDoesNothing) {
  mutex m{client, "x"};
  EXPECT_EQ(thrown_by([&] { m.token(); }), std::errc::operation_not_permitted);
  m.unlock();
  EXPECT_EQ(engine->calls(), 0);
}

TEST_F(MutexTest, DestructionReleases) {
  { mutex{client, "x"}.lock(); }
  EXPECT_TRUE(client.list()->empty());
}

TEST(WaitTest, DurationsAreRoundedUpAndClamped) {
  EXPECT_EQ(detail::to_wait(1ns), 1ms);
  EXPECT_EQ(detail::to_wait(1500us), 2ms);
  EXPECT_EQ(detail::to_wait(-1s), 0ms);
  EXPECT_EQ(detail::to_wait(0.25s), 250ms);
  EXPECT_EQ(detail::to_wait(std::chrono::hours::max()), kForever);
  EXPECT_EQ(detail::to_wait(std::chrono::nanoseconds::max()), kForever);
}

}  // namespace
}  // namespace holdfast
