#include "bench/zookeeper/server_load.h"

#include <thread>

#include "base/assert.h"
#include "bench/load.h"

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

constexpr Millis kTtl{9'000};
constexpr Millis kLongTtl{600'000};
constexpr Millis kInterval = kTtl / 3;
constexpr int kIntervals = 4;

/// Returns when so many nodes are watched: the last that comes of taking a lock is that it is
/// watched, up to two seconds later, and that is no cost of holding it.
void settle(const ZookeeperServer& server, int watches) {
  const TimePoint give_up_at = BootClock::now() + 2 * kTtl;
  while (server.watches() < watches && BootClock::now() < give_up_at) {
    std::this_thread::sleep_for(50ms);
  }
}

/// Returns soon after something was asked for.
double wait_for_request(const ZookeeperServer& server) {
  const double before = server.requests();
  const TimePoint give_up_at = BootClock::now() + 2 * kTtl;
  double now = server.requests();
  while (now == before && BootClock::now() < give_up_at) {
    std::this_thread::sleep_for(50ms);
    now = server.requests();
  }
  return now;
}

/// What the server is sent within one interval, of several. From one request to the middle between
/// two, so that neither end of the time counts for more or less than it should.
double watch(const ZookeeperServer& server) {
  const double before = wait_for_request(server);
  std::this_thread::sleep_for(kIntervals * kInterval + kInterval / 2);
  return (server.requests() - before) / kIntervals;
}

}  // namespace

Result<void> add_idle_waiters(Report& report,
                              const ZookeeperServer& server,
                              const Progress& progress) {
  progress("1 000 calls that wait");
  auto holder = Client::connect(server.url());
  if (!holder) return Unexpected{holder.error()};
  // So rarely renewed that the holder itself sends nothing meanwhile.
  std::vector<Lease> leases;
  take(*holder, kWaiters, {.ttl = kLongTtl}, leases);
  auto client = Client::connect(server.url());
  if (!client) return Unexpected{client.error()};
  const Waiters waiters{*client, kTtl};
  // By its holder, and by who waits for it.
  settle(server, 2 * kWaiters);
  report.cases.push_back(
      load_case("1 000 waiting calls, requests", watch(server), "one per TTL/3", 1));
  return {};
}

Result<void> add_held(Report& report, const ZookeeperServer& server, const Progress& progress) {
  progress("10 000 held locks");
  auto client = Client::connect(server.url());
  if (!client) return Unexpected{client.error()};
  std::vector<Lease> leases;
  take(*client, 1, {.ttl = kTtl}, leases);
  const double threads_before = threads_here();
  leases.clear();
  take(*client, kHeld, {.ttl = kTtl}, leases);
  settle(server, kHeld);
  report.cases.push_back(
      load_case("10 000 held locks, requests", watch(server), "one per TTL/3", 1));
  report.cases.push_back(threads_case(threads_before));
  for (const Lease& lease : leases) HOLDFAST_ASSERT(lease.state() == LeaseState::held);
  return {};
}

}  // namespace holdfast::bench
