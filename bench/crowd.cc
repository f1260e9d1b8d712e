#include "bench/crowd.h"

#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <latch>
#include <thread>
#include <vector>

#include "base/assert.h"
#include "holdfast/async.h"

namespace holdfast::bench {
namespace {

boost::asio::awaitable<void> call(Client client,
                                  std::string name,
                                  TimePoint until,
                                  std::uint64_t& pairs) {
  while (BootClock::now() < until) {
    auto lease = co_await async_acquire(client, name);
    HOLDFAST_ASSERT(lease);
    const ReleaseOutcome outcome = co_await async_release(std::move(*lease));
    HOLDFAST_ASSERT(outcome == ReleaseOutcome::released);
    ++pairs;
  }
}

}  // namespace

void pair(Client& client, const std::string& name) {
  auto lease = client.acquire(name);
  HOLDFAST_ASSERT(lease && lease->release() == ReleaseOutcome::released);
}

double threads_rate(Client& client) {
  std::atomic<std::uint64_t> pairs{0};
  std::atomic<bool> over{false};
  std::latch ready{kCallers + 1};
  std::vector<std::jthread> callers;
  for (std::size_t i = 0; i < kCallers; ++i) {
    callers.emplace_back([&, name = "caller/" + std::to_string(i)] {
      ready.arrive_and_wait();
      std::uint64_t done = 0;
      for (; !over.load(std::memory_order_relaxed); ++done) pair(client, name);
      pairs.fetch_add(done);
    });
  }
  ready.arrive_and_wait();
  const TimePoint begun = BootClock::now();
  std::this_thread::sleep_for(kWindow);
  over.store(true);
  callers.clear();
  const std::chrono::duration<double> spent = BootClock::now() - begun;
  return static_cast<double>(pairs.load()) / spent.count();
}

double coroutines_rate(Client& client) {
  boost::asio::io_context context{1};
  std::uint64_t pairs = 0;
  const TimePoint begun = BootClock::now();
  for (std::size_t i = 0; i < kCallers; ++i) {
    boost::asio::co_spawn(context,
                          call(client, "caller/" + std::to_string(i), begun + kWindow, pairs),
                          boost::asio::detached);
  }
  context.run();
  const std::chrono::duration<double> spent = BootClock::now() - begun;
  return static_cast<double>(pairs) / spent.count();
}

}  // namespace holdfast::bench
