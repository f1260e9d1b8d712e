#include "bench/redis/server_load.h"

#include <atomic>
#include <filesystem>
#include <latch>
#include <mutex>
#include <stop_token>
#include <thread>

#include "base/assert.h"
#include "bench/redis/bare_client.h"
#include "holdfast/client.h"

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

constexpr int kWaiters = 1'000;
constexpr int kHeld = 10'000;
constexpr Millis kWaiterTtl{3'000};
constexpr Millis kHeldTtl{9'000};
constexpr int kIntervals = 4;

/// What the server is sent within one interval, of several.
struct PerInterval {
  double scripts{0};
  double commands{0};
};

PerInterval watch(BareClient& bare, Millis interval) {
  const ServerLoad before = load_of(bare);
  std::this_thread::sleep_for(kIntervals * interval);
  const ServerLoad after = load_of(bare);
  const double scripts = (after.scripts - before.scripts) / kIntervals;
  return {.scripts = scripts, .commands = scripts + (after.others - before.others) / kIntervals};
}

Case load_case(std::string name, double commands, std::string limit_name, double limit) {
  return {.name = std::move(name),
          .p50_ns = commands,
          .p99_ns = commands,
          .limit_name = std::move(limit_name),
          .limit = limit,
          .unit = "requests",
          .ratio = commands <= limit ? 1 : limit / commands,
          .target = 1};
}

double threads_here() {
  const std::filesystem::directory_iterator tasks{"/proc/self/task"};
  return static_cast<double>(std::distance(begin(tasks), end(tasks)));
}

std::string lock_name(const char* begin, int number) { return begin + std::to_string(number); }

/// Takes `count` locks, many at a time.
void take(Client& client, int count, const AcquireOptions& options, std::vector<Lease>& leases) {
  std::mutex mutex;
  std::latch taken{count};
  for (int i = 0; i < count; ++i) {
    client.async_acquire(lock_name("held/", i), options, {}, [&](auto lease) {
      HOLDFAST_ASSERT(lease.has_value());
      const std::lock_guard lock{mutex};
      leases.push_back(*std::move(lease));
      taken.count_down();
    });
  }
  taken.wait();
}

}  // namespace

Result<void> add_idle_waiters(Report& report, const RedisServer& server, const Progress& progress) {
  progress("1 000 calls that wait");
  auto bare = BareClient::connect(server.port());
  if (!bare) return Unexpected{bare.error()};
  auto holder = Client::connect(server.url());
  if (!holder) return Unexpected{holder.error()};
  auto client = Client::connect(server.url());
  if (!client) return Unexpected{client.error()};
  // Detached: the holder itself sends nothing.
  std::vector<Lease> leases;
  take(*holder, kWaiters, {.ttl = kTtlMax, .kind = LeaseKind::detached}, leases);
  std::stop_source stop;
  std::latch ended{kWaiters};
  for (int i = 0; i < kWaiters; ++i) {
    client->async_acquire(
        lock_name("held/", i), {.ttl = kWaiterTtl}, stop.get_token(), [&](const auto&) {
          ended.count_down();
        });
  }
  // The first of them were refreshed apart from the others: a turn later all go together.
  std::this_thread::sleep_for(kWaiterTtl);
  const PerInterval load = watch(*bare, kWaiterTtl / 3);
  stop.request_stop();
  ended.wait();
  report.cases.push_back(
      load_case("1 000 waiting calls, scripts per TTL/3", load.scripts, "two scripts", 2));
  return {};
}

Result<void> add_held(Report& report, const RedisServer& server, const Progress& progress) {
  progress("10 000 held locks");
  auto bare = BareClient::connect(server.port());
  if (!bare) return Unexpected{bare.error()};
  auto client = Client::connect(server.url());
  if (!client) return Unexpected{client.error()};
  std::vector<Lease> leases;
  take(*client, 1, {.ttl = kHeldTtl}, leases);
  const double threads_before = threads_here();
  leases.clear();
  take(*client, kHeld, {.ttl = kHeldTtl}, leases);
  std::this_thread::sleep_for(kHeldTtl / 3);
  const PerInterval load = watch(*bare, kHeldTtl / 3);
  report.cases.push_back(
      load_case("10 000 held locks, per renewal", load.commands, "110 requests", 110));
  Case threads = load_case("10 000 held locks, threads for them",
                           threads_here() - threads_before,
                           "as many as for one lock",
                           0);
  threads.unit = "threads";
  report.cases.push_back(std::move(threads));
  for (const Lease& lease : leases) HOLDFAST_ASSERT(lease.state() == LeaseState::held);
  return {};
}

}  // namespace holdfast::bench
