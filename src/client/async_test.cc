#include "holdfast/async.h"

#include <gtest/gtest.h>

#include <boost/asio.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <future>
#include <optional>
#include <thread>

#include "client/fake_backend.h"

namespace holdfast {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using namespace asio::experimental::awaitable_operators;
using testing::FakeBackend;
using Acquired = Result<Lease, AcquireError>;

struct AsyncTest : ::testing::Test {
  std::shared_ptr<FakeBackend> engine = std::make_shared<FakeBackend>();
  Client client{engine};
  asio::io_context context;
};

TEST_F(AsyncTest, CallbackRunsOnItsExecutorAndNeverInsideTheCall) {
  std::optional<Acquired> result;
  bool on_executor = false;
  async_acquire(
      client, "x", {}, asio::bind_executor(context.get_executor(), [&](Acquired acquired) {
        on_executor = context.get_executor().running_in_this_thread();
        result = std::move(acquired);
      }));
  EXPECT_FALSE(result);
  context.run();
  ASSERT_TRUE(result && *result);
  EXPECT_TRUE(on_executor);
  EXPECT_EQ((*result)->name(), "x");
}

asio::awaitable<void> acquire_and_release(Client client, std::optional<ReleaseOutcome>& outcome) {
  auto lease = co_await async_acquire(client, "x", {.ttl = 5s, .label = "from a coroutine"});
  EXPECT_TRUE(lease);
  if (!lease) co_return;
  EXPECT_EQ(lease->ttl(), 5s);
  const auto busy = co_await async_acquire(client, "x", {.wait = 0ms}, asio::use_awaitable);
  EXPECT_EQ(busy.error().code, Errc::busy);
  outcome = co_await async_release(std::move(*lease));
}

TEST_F(AsyncTest, CoroutinesAwaitResults) {
  std::optional<ReleaseOutcome> outcome;
  asio::co_spawn(context, acquire_and_release(client, outcome), asio::detached);
  context.run();
  EXPECT_EQ(outcome, ReleaseOutcome::released);
  EXPECT_TRUE(client.list()->empty());
  EXPECT_EQ(engine->last()->label(), "from a coroutine");
}

TEST_F(AsyncTest, FuturesWork) {
  auto lease = async_acquire(client, "x", {}, asio::use_future).get();
  ASSERT_TRUE(lease);
  EXPECT_EQ(async_release(std::move(*lease), asio::use_future).get(), ReleaseOutcome::released);
}

TEST_F(AsyncTest, DeferredStartsLaterAndOwnsItsArguments) {
  auto operation = [&] {
    const std::string name = "a name long enough to live on the heap";
    const std::string label = "a label long enough to live on the heap";
    return async_acquire(client, name, {.label = label}, asio::deferred);
  }();
  EXPECT_EQ(engine->calls(), 0);
  auto lease = std::move(operation)(asio::use_future).get();
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->name(), "a name long enough to live on the heap");
  EXPECT_EQ(engine->last()->label(), "a label long enough to live on the heap");
}

asio::awaitable<void> acquire_as_tuple(Client client, bool& acquired) {
  auto [lease] = co_await async_acquire(client, "x", {}, asio::as_tuple(asio::use_awaitable));
  acquired = lease.has_value();
}

TEST_F(AsyncTest, TuplesWork) {
  bool acquired = false;
  asio::co_spawn(context, acquire_as_tuple(client, acquired), asio::detached);
  context.run();
  EXPECT_TRUE(acquired);
}

TEST_F(AsyncTest, WaitingKeepsTheExecutorBusyUntilGranted) {
  auto held = client.acquire("x");
  ASSERT_TRUE(held);
  std::optional<Token> token;
  async_acquire(client, "x", {}, asio::bind_executor(context, [&](Acquired lease) {
                  token = lease->token();
                }));
  EXPECT_EQ(context.poll(), 0u);
  EXPECT_FALSE(context.stopped());
  std::jthread releaser{[&] { held->release(); }};
  context.run();
  ASSERT_TRUE(token);
  EXPECT_GT(*token, Token{1});
}

TEST_F(AsyncTest, CancellationSlotEndsTheWait) {
  const auto held = client.acquire("x");
  ASSERT_TRUE(held);
  asio::cancellation_signal signal;
  std::optional<Errc> answer;
  const auto handler = [&](Acquired lease) { answer = lease.error().code; };
  async_acquire(client,
                "x",
                {},
                asio::bind_cancellation_slot(signal.slot(), asio::bind_executor(context, handler)));
  EXPECT_EQ(engine->waiting("x"), 1u);
  signal.emit(asio::cancellation_type::total);
  EXPECT_EQ(engine->waiting("x"), 0u);
  context.run();
  EXPECT_EQ(answer, Errc::cancelled);
  EXPECT_FALSE(signal.slot().has_handler());
}

asio::awaitable<void> acquire_into(Client client, Errc& answer) {
  const auto lease = co_await async_acquire(client, "x");
  answer = lease ? Errc::internal : lease.error().code;
}

asio::awaitable<void> acquire_with_timer(Client client, Errc& answer) {
  asio::steady_timer timer{co_await asio::this_coro::executor, 1ms};
  co_await (acquire_into(client, answer) || timer.async_wait(asio::use_awaitable));
}

TEST_F(AsyncTest, CoroutineOperatorsCancel) {
  const auto held = client.acquire("x");
  ASSERT_TRUE(held);
  Errc answer{};
  asio::co_spawn(context, acquire_with_timer(client, answer), asio::detached);
  context.run();
  EXPECT_EQ(answer, Errc::cancelled);
  EXPECT_EQ(engine->waiting("x"), 0u);
}

TEST_F(AsyncTest, LeaseNobodyTakesIsReleased) {
  {
    asio::io_context never_run;
    async_acquire(client, "x", {}, asio::bind_executor(never_run, [](Acquired) {}));
    EXPECT_EQ(client.list()->size(), 1u);
  }
  EXPECT_TRUE(client.list()->empty());
}

TEST_F(AsyncTest, StrandsWork) {
  auto strand = asio::make_strand(context);
  bool on_strand = false;
  async_acquire(client, "x", {}, asio::bind_executor(strand, [&](Acquired) {
                  on_strand = strand.running_in_this_thread();
                }));
  context.run();
  EXPECT_TRUE(on_strand);
}

// The thread that completes an operation may still be inside the executor's post() when the handler
// has run and the context is destroyed: ThreadSanitizer sees it, others crash once in a blue moon.
TEST_F(AsyncTest, AContextMayGoAsSoonAsItHasRun) {
  for (int round = 0; round < 200; ++round) {
    auto held = client.acquire("x");
    ASSERT_TRUE(held);
    asio::io_context brief;
    bool granted = false;
    async_acquire(client, "x", {}, asio::bind_executor(brief, [&](const Acquired& acquired) {
                    granted = acquired.has_value();
                  }));
    std::thread releasing{[lease = std::move(*held)]() mutable { lease.release(); }};
    brief.run();
    EXPECT_TRUE(granted);
    releasing.join();
  }
}

TEST_F(AsyncTest, InvalidArgumentsCompleteLikeEverythingElse) {
  std::optional<Errc> answer;
  async_acquire(client, "", {}, asio::bind_executor(context, [&](Acquired lease) {
                  answer = lease.error().code;
                }));
  EXPECT_FALSE(answer);
  context.run();
  EXPECT_EQ(answer, Errc::invalid_argument);
}

}  // namespace
}  // namespace holdfast
