#include "bench/postgres/callers.h"

#include <vector>

#include "base/assert.h"
#include "bench/crowd.h"
#include "bench/peers.h"
#include "bench/postgres/bare_client.h"
#include "bench/sampling.h"
#include "holdfast/store.h"

namespace holdfast::bench {
namespace {

constexpr Turns kTurns{.rounds = 100, .batch = 20};
constexpr Turns kWarmUp{.rounds = 20, .batch = 20};

struct Comparison {
  std::string name;
  std::string limit_name;
  double target;
  std::function<void()> bare;
  std::function<void()> ours;
};

void add(Report& report, const Comparison& comparison) {
  const std::vector<Subject> subjects{{.name = "bare", .body = comparison.bare},
                                      {.name = "holdfast", .body = comparison.ours}};
  time_each_in_turns(subjects, kWarmUp);
  const auto timings = time_each_in_turns(subjects, kTurns);
  report.cases.push_back({.name = comparison.name,
                          .ops_s = 1e9 / timings[1].p50_ns,
                          .p50_ns = timings[1].p50_ns,
                          .p99_ns = timings[1].p99_ns,
                          .limit_name = comparison.limit_name,
                          .limit = timings[0].p50_ns,
                          .ratio = timings[0].p50_ns / timings[1].p50_ns,
                          .target = comparison.target});
}

void add_locks(Report& report, Client& lease, Client& advisory, BarePostgres& bare) {
  add(report,
      {.name = std::string{kOneCaller},
       .limit_name = "bare insert and delete of a row",
       .target = 1 / 1.25,
       .bare =
           [&] {
             bare.insert();
             bare.erase();
           },
       .ours = [&] { pair(lease, "one"); }});
  add(report,
      {.name = "advisory, acquire+release",
       .limit_name = "bare pg_advisory_lock and unlock",
       .target = 1 / 1.2,
       .bare =
           [&] {
             bare.lock();
             bare.unlock();
           },
       .ours = [&] { pair(advisory, "one"); }});
}

Result<void> add_store(Report& report, Client& client, BarePostgres& bare) {
  auto lease = client.acquire("store");
  if (!lease) return Unexpected{Error{lease.error().code, lease.error().message}};
  auto store = client.store();
  if (!store) return Unexpected{store.error()};
  auto resource = store->open("resource", *lease);
  if (!resource) return Unexpected{Error{resource.error().code, resource.error().message}};
  const std::string value(100, 'v');
  add(report,
      {.name = "fenced write",
       .limit_name = "bare write of a row",
       .target = 0.8,
       .bare = [&] { bare.put(value); },
       .ours = [&] { HOLDFAST_ASSERT(resource->write(value)); }});
  return {};
}

}  // namespace

Result<void> add_callers(Report& report, const PostgresServer& server, const Progress& progress) {
  auto lease = Client::connect(server.url("lease"));
  if (!lease) return Unexpected{lease.error()};
  auto advisory = Client::connect(server.url("advisory"));
  if (!advisory) return Unexpected{advisory.error()};
  const auto bare = BarePostgres::connect(server.port());
  if (!bare) return Unexpected{bare.error()};
  progress("one caller");
  add_locks(report, *lease, *advisory, **bare);
  progress("fenced writes");
  return add_store(report, *lease, **bare);
}

}  // namespace holdfast::bench
