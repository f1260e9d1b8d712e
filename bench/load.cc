#include "bench/load.h"

#include <algorithm>
#include <filesystem>
#include <latch>
#include <mutex>
#include <stop_token>

#include "base/assert.h"

namespace holdfast::bench {
namespace {

// A server that is behind by more refuses, or answers too late.
constexpr int kAtATime = 250;

}  // namespace

Case load_case(std::string name, double requests, std::string limit_name, double limit) {
  return {.name = std::move(name),
          .p50_ns = requests,
          .p99_ns = requests,
          .limit_name = std::move(limit_name),
          .limit = limit,
          .unit = "requests",
          .ratio = requests <= limit ? 1 : limit / requests,
          .target = 1};
}

Case threads_case(double before) {
  Case threads = load_case(
      "10 000 held locks, threads for them", threads_here() - before, "as many as for one lock", 0);
  threads.unit = "threads";
  return threads;
}

double threads_here() {
  const std::filesystem::directory_iterator tasks{"/proc/self/task"};
  return static_cast<double>(std::distance(begin(tasks), end(tasks)));
}

std::string held_name(int number) { return "held/" + std::to_string(number); }

void take(Client& client, int count, const AcquireOptions& options, std::vector<Lease>& leases) {
  // Shared: the last callback may still be in it when all are known to be taken.
  struct Taking {
    explicit Taking(int number) : taken{number} {}
    std::mutex mutex;
    std::latch taken;
  };
  for (int from = 0; from < count; from += kAtATime) {
    const int to = std::min(from + kAtATime, count);
    const auto taking = std::make_shared<Taking>(to - from);
    for (int i = from; i < to; ++i) {
      client.async_acquire(held_name(i), options, {}, [taking, &leases](auto lease) {
        HOLDFAST_ASSERT(lease.has_value());
        const std::lock_guard lock{taking->mutex};
        leases.push_back(*std::move(lease));
        taking->taken.count_down();
      });
    }
    taking->taken.wait();
  }
}

struct Waiters::Calls {
  std::stop_source stop;
  std::latch ended{kWaiters};
};

Waiters::Waiters(Client& client, Millis ttl) : calls_{std::make_shared<Calls>()} {
  for (int i = 0; i < kWaiters; ++i) {
    const auto on_end = [calls = calls_](const auto&) { calls->ended.count_down(); };
    client.async_acquire(held_name(i), {.ttl = ttl}, calls_->stop.get_token(), on_end);
  }
}

Waiters::~Waiters() {
  calls_->stop.request_stop();
  calls_->ended.wait();
}

}  // namespace holdfast::bench
