#include "bench/redis/server_load.h"

#include <thread>

#include "base/assert.h"
#include "bench/load.h"
#include "bench/redis/bare_client.h"
#include "holdfast/client.h"

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

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
  const Waiters waiters{*client, kWaiterTtl};
  // The first of them were refreshed apart from the others: a turn later all go together.
  std::this_thread::sleep_for(kWaiterTtl);
  const PerInterval load = watch(*bare, kWaiterTtl / 3);
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
  report.cases.push_back(threads_case(threads_before));
  for (const Lease& lease : leases) HOLDFAST_ASSERT(lease.state() == LeaseState::held);
  return {};
}

}  // namespace holdfast::bench
