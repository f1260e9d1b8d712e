#include "bench/etcd/server_load.h"

#include <thread>

#include "base/assert.h"
#include "bench/load.h"

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

constexpr Millis kTtl{9'000};
constexpr Millis kInterval = kTtl / 3;
constexpr int kIntervals = 4;
constexpr int kWarmUp = 1'000;

/// Returns soon after a lease was kept alive.
EtcdLoad wait_for_keep_alive(const EtcdServer& server) {
  const double before = server.load().keep_alives;
  const TimePoint give_up_at = BootClock::now() + 2 * kTtl;
  EtcdLoad now = server.load();
  while (now.keep_alives == before && BootClock::now() < give_up_at) {
    std::this_thread::sleep_for(50ms);
    now = server.load();
  }
  return now;
}

/// What the server is sent within one interval, of several. From one keep-alive to the middle
/// between two, so that neither end of the time counts for more or less than it should.
EtcdLoad watch(const EtcdServer& server) {
  const EtcdLoad before = wait_for_keep_alive(server);
  std::this_thread::sleep_for(kIntervals * kInterval + kInterval / 2);
  const EtcdLoad after = server.load();
  return {.keep_alives = (after.keep_alives - before.keep_alives) / kIntervals,
          .others = (after.others - before.others) / kIntervals};
}

}  // namespace

Result<void> add_idle_waiters(Report& report, const EtcdServer& server, const Progress& progress) {
  progress("1 000 calls that wait");
  auto holder = Client::connect(server.url());
  if (!holder) return Unexpected{holder.error()};
  auto client = Client::connect(server.url());
  if (!client) return Unexpected{client.error()};
  // Detached: the holder itself sends nothing.
  std::vector<Lease> leases;
  take(*holder, kWaiters, {.ttl = kTtlMax, .kind = LeaseKind::detached}, leases);
  const Waiters waiters{*client, kTtl};
  // Until all of them wait.
  std::this_thread::sleep_for(kInterval);
  const EtcdLoad load = watch(server);
  report.cases.push_back(load_case("1 000 waiting calls, per TTL/3", load.others, "nothing", 0));
  report.cases.push_back(
      load_case("1 000 waiting calls, keep-alives", load.keep_alives, "one per TTL/3", 1));
  return {};
}

Result<void> add_held(Report& report, const EtcdServer& server, const Progress& progress) {
  progress("10 000 held locks");
  auto client = Client::connect(server.url());
  if (!client) return Unexpected{client.error()};
  std::vector<Lease> leases;
  // gRPC has as many threads for its timers as it once needed, whatever is held.
  take(*client, kWarmUp, {.ttl = kTtl}, leases);
  leases.clear();
  take(*client, 1, {.ttl = kTtl}, leases);
  const double threads_before = threads_here();
  leases.clear();
  take(*client, kHeld, {.ttl = kTtl}, leases);
  std::this_thread::sleep_for(kInterval);
  const EtcdLoad load = watch(server);
  report.cases.push_back(
      load_case("10 000 held locks, keep-alives", load.keep_alives, "one per TTL/3", 1));
  report.cases.push_back(load_case("10 000 held locks, other requests", load.others, "nothing", 0));
  report.cases.push_back(threads_case(threads_before));
  for (const Lease& lease : leases) HOLDFAST_ASSERT(lease.state() == LeaseState::held);
  return {};
}

}  // namespace holdfast::bench
