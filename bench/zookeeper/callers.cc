#include "bench/zookeeper/callers.h"

#include <vector>

#include "bench/crowd.h"
#include "bench/peers.h"
#include "bench/sampling.h"
#include "bench/zookeeper/bare_client.h"

namespace holdfast::bench {
namespace {

constexpr Turns kTurns{.rounds = 100, .batch = 20};

void add_one(Report& report, Client& client, BareZookeeper& bare) {
  bare.create_parent("/bare");
  const auto create_and_delete = [&] {
    bare.create("/bare/one");
    bare.erase("/bare/one");
  };
  const std::vector<Subject> subjects{{.name = "bare", .body = create_and_delete},
                                      {.name = "holdfast", .body = [&] { pair(client, "one"); }}};
  // Connections, the session, and the server's compiler first.
  time_each_in_turns(subjects, {.rounds = 50, .batch = kTurns.batch});
  const auto timings = time_each_in_turns(subjects, kTurns);
  report.cases.push_back({.name = std::string{kOneCaller},
                          .ops_s = 1e9 / timings[1].p50_ns,
                          .p50_ns = timings[1].p50_ns,
                          .p99_ns = timings[1].p99_ns,
                          .limit_name = "bare create and delete",
                          .limit = timings[0].p50_ns,
                          .ratio = timings[0].p50_ns / timings[1].p50_ns,
                          .target = 1 / 1.2});
}

struct Crowd {
  std::string name;
  double (*rate)(Client& client);
  /// Zero: for comparison alone.
  double target;
};

void add_many(Report& report, Client& client, BareZookeeper& bare, const Crowd& crowd) {
  const double seconds = std::chrono::duration<double>{kWindow}.count();
  std::vector<double> ours;
  std::vector<double> limits;
  for (int i = 0; i < kWindows; ++i) {
    limits.push_back(1e9 / bare.rate(kCallers, seconds));
    ours.push_back(1e9 / crowd.rate(client));
  }
  const Timing limit = summarise(limits);
  const Timing holdfast = summarise(ours);
  report.cases.push_back({.name = crowd.name + ", time per acquire+release",
                          .ops_s = 1e9 / holdfast.p50_ns,
                          .p50_ns = holdfast.p50_ns,
                          .p99_ns = holdfast.p99_ns,
                          .limit_name = "bare creates and deletes, 64 at once",
                          .limit = limit.p50_ns,
                          .ratio = limit.p50_ns / holdfast.p50_ns,
                          .target = crowd.target});
}

}  // namespace

Result<void> add_callers(Report& report, const ZookeeperServer& server, const Progress& progress) {
  auto client = Client::connect(server.url());
  if (!client) return Unexpected{client.error()};
  const auto bare = BareZookeeper::connect(server.port());
  if (!bare) return Unexpected{bare.error()};
  progress("one caller");
  add_one(report, *client, **bare);
  progress("64 callers");
  add_many(report, *client, **bare, {"64 callers", &coroutines_rate, 0.8});
  progress("64 threads");
  add_many(report, *client, **bare, {"64 threads", &threads_rate, 0});
  return {};
}

}  // namespace holdfast::bench
