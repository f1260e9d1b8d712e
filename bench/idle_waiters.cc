#include "bench/idle_waiters.h"

#include <sys/resource.h>

#include <ctime>
#include <stop_token>
#include <thread>
#include <vector>

#include "bench/scratch.h"
#include "holdfast/client.h"

namespace holdfast::bench {
namespace {

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void let_time_pass(std::time_t seconds) {
  const timespec time{.tv_sec = seconds, .tv_nsec = 0};
  nanosleep(&time, nullptr);
}

}  // namespace

Result<IdleCost> time_idle_waiters() {
  const Scratch scratch;
  auto client = Client::connect("local:" + scratch.path());
  if (!client) return Unexpected{client.error()};
  auto holder = client->acquire("idle");
  if (!holder) return Unexpected{holder.error()};
  std::stop_source stop;
  std::vector<std::jthread> waiters;
  waiters.reserve(kIdleWaiters);
  for (int i = 0; i < kIdleWaiters; ++i) {
    waiters.emplace_back([&] { static_cast<void>(client->acquire("idle", {}, stop.get_token())); });
  }
  while (client->inspect("idle")->waiters.size() < kIdleWaiters) let_time_pass(0);
  let_time_pass(1);
  const double cpu_before = cpu_seconds();
  const TimePoint before = BootClock::now();
  let_time_pass(2);
  const std::chrono::duration<double> wall = BootClock::now() - before;
  const double cpu = cpu_seconds() - cpu_before;
  stop.request_stop();
  return IdleCost{.cpu_seconds = cpu, .wall_seconds = wall.count()};
}

}  // namespace holdfast::bench
