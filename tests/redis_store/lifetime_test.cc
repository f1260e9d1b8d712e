// The store's own life: callers that wait, a client that goes, a child that forks.

#include <sys/wait.h>
#include <unistd.h>

#include <future>
#include <latch>
#include <thread>

#include "holdfast/store.h"
#include "tests/redis_store/store_bed.h"

namespace holdfast::redis_store {
namespace {

using LifetimeTest = StoreBed;

/// What somebody is told who does not block for it.
std::future<StoreResult> ask(StoreBackend& store, StoreRequest request) {
  const auto promise = std::make_shared<std::promise<StoreResult>>();
  store.async_perform(std::move(request),
                      [promise](StoreResult result) { promise->set_value(std::move(result)); });
  return promise->get_future();
}

TEST_F(LifetimeTest, ManyThreadsMayAskAtOnce) {
  constexpr int kThreads = 8;
  constexpr int kRounds = 25;
  Store store{store_, nullptr};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        const auto done = store.update("n", [](const Entry* old) -> std::optional<std::string> {
          return std::to_string((old == nullptr ? 0 : std::stoi(old->value)) + 1);
        });
        EXPECT_TRUE(done) << done.error().message;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(stored("n"), std::to_string(kThreads * kRounds));
}

TEST_F(LifetimeTest, ACallbackComesOnceAndNotOnTheThreadOfTheEnv) {
  std::promise<std::thread::id> of_env;
  env_->post([&] { of_env.set_value(std::this_thread::get_id()); });
  std::promise<std::pair<StoreResult, std::thread::id>> called;
  store().async_perform(put("a"), [&](StoreResult result) {
    called.set_value({std::move(result), std::this_thread::get_id()});
  });
  const auto [result, thread] = called.get_future().get();
  EXPECT_TRUE(result);
  EXPECT_NE(thread, std::this_thread::get_id());
  EXPECT_NE(thread, of_env.get_future().get());
}

TEST_F(LifetimeTest, AStoreThatOutlivesItsEnvRefusesAndLetsThePortGo) {
  const std::weak_ptr<FaultyPort> port = std::exchange(port_, nullptr);
  ASSERT_TRUE(store().perform(get()));
  env_.reset();
  EXPECT_TRUE(port.expired());
  EXPECT_EQ(code_of(get()), Errc::shutting_down);
  EXPECT_EQ(ask(store(), get()).get().error().code, Errc::shutting_down);
}

TEST_F(LifetimeTest, AStoreThatGoesLetsThePortGo) {
  const std::weak_ptr<FaultyPort> port = std::exchange(port_, nullptr);
  store_.reset();
  EXPECT_TRUE(port.expired());
}

// A server that hangs, and a client that is destroyed meanwhile.
TEST_F(LifetimeTest, WhoStillWaitsWhenTheEnvGoesIsAnswered) {
  port_->expect({{Fate::silence}, {Fate::silence}});
  auto one = ask(store(), put("a"));
  auto other = ask(store(), put("b"));
  while (port_->sent() < 2) std::this_thread::yield();
  env_.reset();
  EXPECT_EQ(one.get().error().code, Errc::shutting_down);
  EXPECT_EQ(other.get().error().code, Errc::shutting_down);
}

/// Keeps what it is asked, and the task with it, for as long as it lives.
class DeafPort final : public redis::RedisPort {
 public:
  void send(redis::SharedCall, TimePoint, redis::OnAnswer on_answer) override {
    kept_.push_back(std::move(on_answer));
    asked_.count_down();
  }
  void subscribe(std::string, redis::OnHeard) override {}
  void unsubscribe(const std::string&) override {}
  void wait_until_asked() { asked_.wait(); }

 private:
  std::vector<redis::OnAnswer> kept_;
  std::latch asked_{1};
};

TEST_F(LifetimeTest, APortThatNobodyElseKeepsGoesWithTheTasksThatWaitForIt) {
  auto port = std::make_shared<DeafPort>();
  const std::weak_ptr<DeafPort> known = port;
  auto deaf = std::make_shared<redis::RedisStore>(*env_, port, redis::StoreSettings{});
  auto waiting = ask(*deaf, put("a"));
  port->wait_until_asked();
  port.reset();
  env_.reset();
  EXPECT_TRUE(known.expired());
  EXPECT_EQ(waiting.get().error().code, Errc::shutting_down);
}

TEST_F(LifetimeTest, AnEnvMayGoAtOnceOrWhileManyAsk) {
  for (int round = 0; round < 50; ++round) {
    auto env = std::move(runtime::AsioEnv::create().value());
    const auto brief = std::make_shared<redis::RedisStore>(
        *env, std::make_shared<FaultyPort>(*env, server_.socket()), redis::StoreSettings{});
    std::vector<std::thread> threads;
    if (round % 4 != 0) {
      ASSERT_TRUE(brief->perform(get()));
    }
    for (int i = 0; i < round % 4; ++i) {
      threads.emplace_back([&] {
        auto last = ask(*brief, get()).get();
        while (last) last = ask(*brief, get()).get();
        EXPECT_EQ(last.error().code, Errc::shutting_down);
      });
    }
    env.reset();
    for (std::thread& thread : threads) thread.join();
  }
}

TEST_F(LifetimeTest, AForkedChildIsRefused) {
  ASSERT_TRUE(store().perform(put("a")));
  const pid_t child = fork();
  if (child == 0) {
    const bool refused = code_of(get()) == Errc::shutting_down;
    _exit(refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(store().perform(get()));
}

}  // namespace
}  // namespace holdfast::redis_store
