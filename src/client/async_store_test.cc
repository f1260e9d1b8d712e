#include "holdfast/async_store.h"

#include <gtest/gtest.h>

#include <boost/asio.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <filesystem>

#include "core/store_backend.h"

namespace holdfast {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

/// A store of local: in a directory of the test's own.
class AsyncStoreTest : public ::testing::Test {
 protected:
  AsyncStoreTest() {
    std::string pattern = ::testing::TempDir() + "holdfast.XXXXXX";
    directory_ = mkdtemp(pattern.data());
    client_ = Client::connect("local:" + directory_ + "?sync=off").value();
    store_ = client_->store().value();
  }
  ~AsyncStoreTest() override {
    store_.reset();
    client_.reset();
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }

  void run(asio::awaitable<void> task) {
    asio::io_context context;
    bool ended = false;
    asio::co_spawn(context, std::move(task), [&](const std::exception_ptr& thrown) {
      ended = true;
      EXPECT_FALSE(thrown);
    });
    context.run();
    EXPECT_TRUE(ended);
  }

  Client& client() { return *client_; }
  Store& store() { return *store_; }

 private:
  std::string directory_;
  std::optional<Client> client_;
  std::optional<Store> store_;
};

asio::awaitable<void> read_and_write(Client client, Store store) {
  auto lease = co_await async_acquire(client, "x");
  EXPECT_TRUE(lease);
  auto resource = co_await async_open(store, "r", *lease);
  EXPECT_TRUE(resource);
  const auto nothing = co_await async_read(*resource);
  EXPECT_FALSE(*nothing);
  const auto written = co_await async_write(*resource, "a");
  EXPECT_EQ(written->sequence, 1U);
  const auto entry = co_await async_read(*resource);
  EXPECT_EQ((*entry)->value, "a");
  Sequencer newer = *parse_sequencer(lease->sequencer());
  newer.token = Token{newer.token.value() + 1};
  const auto checked = co_await async_check(store, "r", newer);
  EXPECT_TRUE(checked);
  const auto stale = co_await async_write(*resource, "b");
  EXPECT_EQ(stale.error().code, Errc::stale_token);
  const auto erased = co_await async_erase(*resource);
  EXPECT_EQ(erased.error().code, Errc::stale_token);
}

TEST_F(AsyncStoreTest, CoroutinesUseFencedResources) { run(read_and_write(client(), store())); }

asio::awaitable<void> swap(Store store) {
  const PutOptions only_new{.if_version = Version::absent()};
  const auto made = co_await async_put(store, "k", "a", only_new);
  EXPECT_TRUE(made);
  const auto conflict = co_await async_put(store, "k", "b", only_new);
  EXPECT_EQ(conflict.error().code, Errc::version_conflict);
  const auto entry = co_await async_get(store, "k");
  EXPECT_EQ((*entry)->value, "a");
  const auto erased = co_await async_erase(store, "k");
  EXPECT_TRUE(*erased);
  const auto invalid = co_await async_get(store, "");
  EXPECT_EQ(invalid.error().code, Errc::invalid_argument);
}

TEST_F(AsyncStoreTest, CoroutinesCompareAndSwap) { run(swap(store())); }

asio::awaitable<void> count(Store store, int rounds) {
  const Store::Compute increment = [](const Entry* old) {
    return std::optional{std::to_string(old == nullptr ? 1 : std::stoi(old->value) + 1)};
  };
  for (int round = 0; round < rounds; ++round) {
    const auto report = co_await async_update(store, "k", increment);
    EXPECT_TRUE(report);
  }
}

TEST_F(AsyncStoreTest, UpdatesOfManyCoroutinesLoseNothing) {
  asio::io_context context;
  for (int i = 0; i < 8; ++i) asio::co_spawn(context, count(store(), 10), asio::detached);
  context.run();
  EXPECT_EQ(store().get("k").value()->value, "80");
}

asio::awaitable<void> call_once(Store store, int& runs, int& results) {
  const AsyncRunner runner = [&runs](const Lease& lease) -> asio::awaitable<OnceResult> {
    ++runs;
    EXPECT_TRUE(lease.ensure_held());
    co_return OnceResult{.status = 0, .bytes = "result"};
  };
  const auto report = co_await async_once(store, "k", runner);
  if (report && report->result.bytes == "result") ++results;
}

TEST_F(AsyncStoreTest, OnceRunsOnceForManyCoroutines) {
  int runs = 0;
  int results = 0;
  asio::io_context context;
  for (int i = 0; i < 16; ++i) {
    asio::co_spawn(context, call_once(store(), runs, results), asio::detached);
  }
  context.run();
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(results, 16);
  EXPECT_EQ(store().once_result("k").value()->bytes, "result");
}

/// Answers when the test says so.
class SlowStore final : public StoreBackend {
 public:
  StoreResult perform(const StoreRequest&) override { return StoreReply{}; }
  void async_perform(StoreRequest, StoreCallback callback) override { callback_ = callback; }
  void answer() { std::exchange(callback_, nullptr)(StoreReply{.sequence = 1}); }

 private:
  StoreCallback callback_;
};

TEST_F(AsyncStoreTest, ASecondOperationOnAResourceIsBusy) {
  auto slow = std::make_shared<SlowStore>();
  auto lease = client().acquire("x");
  auto resource = Store{slow, client().backend()}.open("r", *lease);
  ASSERT_TRUE(resource);
  auto first = async_write(*resource, "a", asio::use_future);
  const auto second = async_read(*resource, asio::use_future).get();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::busy);
  slow->answer();
  EXPECT_EQ(first.get()->sequence, 1U);
  EXPECT_TRUE(resource->read());
}

TEST_F(AsyncStoreTest, FuturesWork) {
  EXPECT_TRUE(async_put(store(), "k", "a", {}, asio::use_future).get());
  EXPECT_EQ(async_get(store(), "k", asio::use_future).get().value()->value, "a");
}

}  // namespace
}  // namespace holdfast
