// The forms of the library on a real engine: completion tokens and the standard library's locks.

#include <boost/asio.hpp>
#include <mutex>
#include <shared_mutex>

#include "holdfast/async.h"
#include "holdfast/mutex.h"
#include "tests/contract/contract.h"

namespace holdfast::contract {
namespace {

namespace asio = boost::asio;

using AdaptersContract = ContractTest;
HOLDFAST_CONTRACT(AdaptersContract);

asio::awaitable<void> take_turn(Client client, std::vector<Token>& tokens) {
  auto lease = co_await async_acquire(client, "x", {.ttl = 10s});
  if (!lease) co_return;
  tokens.push_back(lease->token());
  asio::steady_timer timer{co_await asio::this_coro::executor, 1ms};
  co_await timer.async_wait(asio::use_awaitable);
  const ReleaseOutcome outcome = co_await async_release(std::move(*lease));
  EXPECT_EQ(outcome, ReleaseOutcome::released);
}

TEST_P(AdaptersContract, CoroutinesTakeTurnsOnOneThread) {
  constexpr int kCoroutines = 20;
  asio::io_context context;
  std::vector<Token> tokens;
  for (int i = 0; i < kCoroutines; ++i) {
    asio::co_spawn(context, take_turn(client(), tokens), asio::detached);
  }
  context.run();
  ASSERT_EQ(tokens.size(), std::size_t{kCoroutines});
  for (std::size_t i = 1; i < tokens.size(); ++i) EXPECT_GT(tokens[i], tokens[i - 1]);
}

TEST_P(AdaptersContract, FutureIsFulfilledWhenAnotherProcessReleases) {
  auto a = actor();
  const Answer first = a->acquire("lease", "x");
  ASSERT_TRUE(first.granted());
  auto future = async_acquire(client(), "x", {}, asio::use_future);
  ASSERT_TRUE(wait_for_waiters("x", 1));
  a->release("lease");
  ASSERT_EQ(future.wait_for(kPatience), std::future_status::ready);
  const auto lease = future.get();
  ASSERT_TRUE(lease);
  EXPECT_GT(lease->token(), first.token);
}

TEST_P(AdaptersContract, AsyncAcquireTimesOutAndIsCancelled) {
  auto held = client().acquire("x");
  ASSERT_TRUE(held);
  EXPECT_EQ(async_acquire(client(), "x", {.wait = 0ms}, asio::use_future).get().error().code,
            Errc::busy);
  EXPECT_EQ(async_acquire(client(), "x", {.wait = 100ms}, asio::use_future).get().error().code,
            Errc::timeout);

  asio::cancellation_signal signal;
  auto future = async_acquire(
      client(), "x", {}, asio::bind_cancellation_slot(signal.slot(), asio::use_future));
  ASSERT_TRUE(wait_for_waiters("x", 1));
  signal.emit(asio::cancellation_type::terminal);
  ASSERT_EQ(future.wait_for(kPatience), std::future_status::ready);
  EXPECT_EQ(future.get().error().code, Errc::cancelled);
  EXPECT_TRUE(client().inspect("x")->waiters.empty());
}

TEST_P(AdaptersContract, AsyncWaiterHoldsASessionThatIsRenewed) {
  auto future = async_acquire(client(), "x", {.ttl = 300ms}, asio::use_future);
  const auto lease = future.get();
  ASSERT_TRUE(lease);
  auto a = actor();
  EXPECT_EQ(a->acquire("lease", "x", {.wait = 1s}).code, Errc::timeout);
  EXPECT_TRUE(lease->ensure_held());
}

// Each thread names the two in another order: only std::lock's care avoids the deadlock.
TEST_P(AdaptersContract, ScopedLockOverTwoNeverDeadlocks) {
  constexpr int kRounds = 10;
  mutex left{client(), "left"};
  mutex right{client(), "right"};
  int count = 0;
  const auto work = [&](mutex& first, mutex& second) {
    for (int i = 0; i < kRounds; ++i) {
      const std::scoped_lock both{first, second};
      ++count;
    }
  };
  auto other = std::async(std::launch::async, [&] { work(right, left); });
  work(left, right);
  other.get();
  EXPECT_EQ(count, 2 * kRounds);
}

TEST_P(AdaptersContract, MutexExcludesOtherProcesses) {
  auto a = actor();
  mutex here{client(), "x"};
  {
    const std::unique_lock guard{here};
    EXPECT_EQ(a->acquire("lease", "x", {.wait = 0ms}).code, Errc::busy);
    EXPECT_GT(here.token(), Token{0});
  }
  ASSERT_TRUE(a->acquire("lease", "x", {.ttl = GetParam().ttl_of_the_dying}).granted());
  EXPECT_FALSE(here.try_lock());
  EXPECT_FALSE(here.try_lock_for(50ms));
  a->kill();
  EXPECT_TRUE(here.try_lock_for(kPatience));
  here.unlock();
}

TEST_P(AdaptersContract, SharedMutexLetsReadersOfOtherProcessesIn) {
  if (!can(&Capabilities::shared, {.mode = Mode::shared})) return;
  auto a = actor();
  shared_mutex here{client(), "x"};
  {
    const std::shared_lock reader{here};
    ASSERT_TRUE(a->acquire("lease", "x", {.mode = Mode::shared, .wait = 0ms}).granted());
  }
  EXPECT_FALSE(here.try_lock());
  EXPECT_TRUE(here.try_lock_shared());
  here.unlock_shared();
  a->release("lease");
  const std::unique_lock writer{here, kPatience};
  EXPECT_TRUE(writer.owns_lock());
}

}  // namespace
}  // namespace holdfast::contract
