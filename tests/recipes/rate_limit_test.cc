// Rate limits on every engine.

#include "holdfast/rate_limit.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <future>
#include <mutex>
#include <thread>

#include "holdfast/async_rate_limit.h"
#include "tests/contract/contract.h"
#include "tests/ports/server_connection.h"

namespace holdfast::contract {
namespace {

class RateLimitContract : public ContractTest {
 protected:
  /// False where the engine has none, and says why: then the test has nothing left to do.
  bool has_limits() {
    auto limiter = RateLimiter::of(client());
    if (GetParam().name.starts_with("redlock")) {
      EXPECT_FALSE(limiter);
      if (limiter) return false;
      EXPECT_EQ(limiter.error().code, Errc::unsupported);
      EXPECT_NE(limiter.error().message.find("majority"), std::string::npos);
      return false;
    }
    EXPECT_TRUE(limiter) << limiter.error().message;
    if (!limiter) return false;
    limiter_.emplace(*std::move(limiter));
    return true;
  }
  RateLimiter& limiter() { return *limiter_; }
  RateLimiter another() const { return RateLimiter::connect(url()).value(); }

  /// How often `limiter` may go now, of so many attempts.
  static int granted(RateLimiter limiter, const RateLimit& limit, int attempts) {
    int count = 0;
    for (int i = 0; i < attempts; ++i) count += limiter.take("key", limit).value().allowed ? 1 : 0;
    return count;
  }

 private:
  std::optional<RateLimiter> limiter_;
};

HOLDFAST_CONTRACT(RateLimitContract);

TEST_P(RateLimitContract, ABurstGoesAtOnceAndARefusalSaysWhenToRetry) {
  if (!has_limits()) return;
  const RateLimit limit{.rate = Rate::per_hour(1), .burst = 3};
  for (std::uint64_t left = 3; left > 0; --left) {
    const auto taken = limiter().take("key", limit);
    ASSERT_TRUE(taken) << taken.error().message;
    EXPECT_TRUE(taken->allowed);
    EXPECT_EQ(taken->remaining, left - 1);
    EXPECT_EQ(taken->delay, 0s);
  }
  const auto refused = limiter().take("key", limit);
  ASSERT_TRUE(refused);
  EXPECT_FALSE(refused->allowed);
  EXPECT_EQ(refused->remaining, 0U);
  EXPECT_GT(refused->retry_after, 50min);
  EXPECT_LE(refused->retry_after, 1h);
  EXPECT_TRUE(limiter().take("another key", limit)->allowed);
}

TEST_P(RateLimitContract, AllClientsShareAKey) {
  if (!has_limits()) return;
  const RateLimit limit{.rate = Rate::per_hour(1), .burst = 5};
  EXPECT_EQ(granted(limiter(), limit, 2), 2);
  EXPECT_EQ(granted(another(), limit, 2), 2);
  EXPECT_EQ(granted(limiter(), limit, 2), 1);
  EXPECT_EQ(granted(another(), limit, 2), 0);
}

TEST_P(RateLimitContract, ItIsTrueWhenToRetry) {
  if (!has_limits()) return;
  const RateLimit limit{.rate = {.permits = 1, .per = 200ms}};
  ASSERT_EQ(granted(limiter(), limit, 1), 1);
  const auto refused = limiter().take("key", limit);
  ASSERT_FALSE(refused->allowed);
  const TimePoint promised = BootClock::now() + refused->retry_after;
  ASSERT_TRUE(eventually([&] { return BootClock::now() > promised; }));
  EXPECT_TRUE(limiter().take("key", limit)->allowed);
}

TEST_P(RateLimitContract, MoreThanOneIsTakenTogetherOrNotAtAll) {
  if (!has_limits()) return;
  const RateLimit limit{.rate = Rate::per_hour(1), .burst = 5};
  EXPECT_TRUE(limiter().take("key", limit, {.cost = 3})->allowed);
  const auto refused = limiter().take("key", limit, {.cost = 3});
  EXPECT_FALSE(refused->allowed);
  EXPECT_LE(refused->retry_after, 1h);
  EXPECT_TRUE(limiter().take("key", limit, {.cost = 2})->allowed);
}

TEST_P(RateLimitContract, WhoWaitsGoesWhenItsTurnComesAndNoEarlier) {
  if (!has_limits()) return;
  const RateLimit limit{.rate = {.permits = 1, .per = 100ms}};
  const TimePoint begin = BootClock::now();
  for (int i = 0; i < 4; ++i) {
    const auto taken = limiter().take("key", limit, {.wait = kPatience});
    ASSERT_TRUE(taken && taken->allowed);
    EXPECT_GE(BootClock::now() - begin, i * 99ms);
  }
  const auto impatient = limiter().take("key", limit, {.wait = 10ms});
  EXPECT_FALSE(impatient->allowed);
}

TEST_P(RateLimitContract, WhoIsCancelledGoesNoMore) {
  if (!has_limits()) return;
  const RateLimit limit{.rate = Rate::per_hour(1)};
  ASSERT_EQ(granted(limiter(), limit, 1), 1);
  std::stop_source stop;
  auto waiting = std::async(std::launch::async, [&] {
    return limiter().take("key", limit, {.wait = 24h}, stop.get_token());
  });
  stop.request_stop();
  EXPECT_EQ(waiting.get().error().code, Errc::cancelled);
  EXPECT_EQ(limiter().take("other", limit, {}, stop.get_token()).error().code, Errc::cancelled);
  EXPECT_TRUE(limiter().take("other", limit)->allowed);
}

TEST_P(RateLimitContract, WhatIsWrongIsNamedAndNothingTaken) {
  if (!has_limits()) return;
  const RateLimit limit{.rate = Rate::per_hour(1), .burst = 2};
  const auto code = [](const Result<RateDecision>& taken) {
    return taken ? Errc{} : taken.error().code;
  };
  EXPECT_EQ(code(limiter().take("", limit)), Errc::invalid_argument);
  EXPECT_EQ(code(limiter().take("a\nb", limit)), Errc::invalid_argument);
  EXPECT_EQ(code(limiter().take("key", {.rate = {.permits = 0}})), Errc::invalid_argument);
  EXPECT_EQ(code(limiter().take("key", limit, {.cost = 3})), Errc::invalid_argument);
  EXPECT_EQ(code(limiter().take("key", limit, {.wait = -1ms})), Errc::invalid_argument);
  EXPECT_EQ(granted(limiter(), limit, 3), 2);
  EXPECT_TRUE(limiter().take("Schlüssel/ {a}* %/=", limit)->allowed);
  EXPECT_TRUE(limiter().take(std::string(480, 'k'), limit)->allowed);
}

TEST_P(RateLimitContract, CoroutinesAndFuturesDoAsThreadsDo) {
  if (!has_limits()) return;
  const RateLimit limit{.rate = {.permits = 1, .per = 50ms}};
  auto first = async_take(limiter(), "key", limit, {}, boost::asio::use_future);
  EXPECT_TRUE(first.get()->allowed);
  boost::asio::io_context context;
  const auto takes = [&]() -> boost::asio::awaitable<RateDecision> {
    const auto waited = co_await async_take(limiter(), "key", limit, {.wait = kPatience});
    const auto refused = co_await async_take(limiter(), "key", {.rate = Rate::per_hour(1)});
    EXPECT_FALSE(refused->allowed);
    const auto wrong = co_await async_take(limiter(), "", limit);
    EXPECT_EQ(wrong.error().code, Errc::invalid_argument);
    co_return *waited;
  };
  auto taken = boost::asio::co_spawn(context, takes(), boost::asio::use_future);
  context.run();
  EXPECT_TRUE(taken.get().allowed);
}

TEST_P(RateLimitContract, ACoroutineThatIsCancelledGoesNoMore) {
  if (!has_limits()) return;
  const RateLimit limit{.rate = Rate::per_hour(1)};
  ASSERT_EQ(granted(limiter(), limit, 1), 1);
  boost::asio::io_context context;
  boost::asio::cancellation_signal signal;
  std::optional<Result<RateDecision>> told;
  async_take(
      limiter(),
      "key",
      limit,
      {.wait = 24h},
      boost::asio::bind_cancellation_slot(
          signal.slot(), boost::asio::bind_executor(context, [&](Result<RateDecision> taken) {
            told = std::move(taken);
          })));
  boost::asio::post(context, [&] { signal.emit(boost::asio::cancellation_type::all); });
  context.run();
  ASSERT_TRUE(told);
  EXPECT_EQ(told->error().code, Errc::cancelled);
}

TEST_P(RateLimitContract, AForkedChildIsToldToConnectAnew) {
  if (!has_limits()) return;
  const RateLimit limit{.rate = Rate::per_hour(1)};
  ASSERT_EQ(granted(limiter(), limit, 1), 1);
  const pid_t child = fork();
  if (child == 0) {
    const auto refused = limiter().take("key", limit);
    _exit(!refused && refused.error().code == Errc::shutting_down ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

/// The moments at which 64 clients may go that all want to all the time.
class Crowd {
 public:
  Crowd(const std::vector<RateLimiter>& limiters, const RateLimit& limit, std::size_t enough) {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < 64; ++i) {
      threads.emplace_back([&, limiter = limiters[i % limiters.size()]]() mutable {
        std::size_t gone = 0;
        while (gone < enough) {
          const TimePoint asked_at = BootClock::now();
          gone = add(asked_at, limiter.take("key", limit, {.wait = kForever}));
        }
      });
    }
    threads.clear();
    std::ranges::sort(moments_);
    moments_.resize(std::min(enough, moments_.size()));
  }

  /// Per second, without the first `warm_up`.
  double rate(std::size_t warm_up) const {
    const std::chrono::duration<double> took = moments_.back() - moments_[warm_up];
    return static_cast<double>(moments_.size() - 1 - warm_up) / took.count();
  }

 private:
  /// How many there are, once this one may go.
  std::size_t add(TimePoint asked_at, const Result<RateDecision>& taken) {
    if (!taken || !taken->allowed) {
      ADD_FAILURE() << (taken ? "refused" : taken.error().message);
      return kForever.count();
    }
    const std::lock_guard lock{mutex_};
    moments_.push_back(asked_at + taken->delay);
    return moments_.size();
  }

  std::mutex mutex_;
  std::vector<TimePoint> moments_;
};

TEST_P(RateLimitContract, SixtyFourClientsGetTheRateWithinOnePercent) {
  if (!has_limits()) return;
  std::vector<RateLimiter> limiters;
  for (int i = 0; i < 4; ++i) limiters.push_back(another());
  const RateLimit limit{.rate = Rate::per_second(500), .burst = 50};
  const Crowd crowd{limiters, limit, 2000};
  EXPECT_NEAR(crowd.rate(500), 500, 5);
}

class RedisRateLimit : public ContractTest {};
INSTANTIATE_TEST_SUITE_P(Engine,
                         RedisRateLimit,
                         testing::Values([] {
                           const auto engines = engines_under_test();
                           return *std::ranges::find(engines, "redis", &EngineUnderTest::name);
                         }()),
                         engine_name);

TEST_P(RedisRateLimit, ADecisionIsOneRoundTrip) {
  RateLimiter limiter = RateLimiter::of(client()).value();
  const std::string scheme{"redis+unix://"};
  ports::ServerConnection server{url().substr(scheme.size())};
  // With the first, the server learns the script.
  ASSERT_TRUE(limiter.take("key", {.rate = Rate::per_second(1)}));
  ASSERT_TRUE(server.command({"CONFIG", "RESETSTAT"}));
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(limiter.take("key", {.rate = Rate::per_second(1)}));
  const std::string told = server.command({"INFO", "commandstats"})->text;
  EXPECT_NE(told.find("cmdstat_evalsha:calls=100,"), std::string::npos) << told;
  EXPECT_EQ(told.find("cmdstat_eval:"), std::string::npos) << told;
}

}  // namespace
}  // namespace holdfast::contract
