#include "bench/redis/callers.h"

#include <array>

#include "bench/crowd.h"
#include "bench/peers.h"
#include "bench/redis/bare_client.h"
#include "bench/sampling.h"
#include "holdfast/client.h"

namespace holdfast::bench {
namespace {

constexpr Turns kTurns{.rounds = 150, .batch = 40};

void add_one(Report& report, Client& client, BareClient& bare) {
  const auto acquire = bare.acquire_request("bare");
  const auto release = bare.release_request("bare");
  const auto two_round_trips = [&] {
    bare.round_trip(acquire);
    bare.round_trip(release);
  };
  const std::vector<Subject> subjects{{.name = "bare", .body = two_round_trips},
                                      {.name = "holdfast", .body = [&] { pair(client, "one"); }}};
  // Connections, scripts and caches first.
  time_each_in_turns(subjects, {.rounds = 2, .batch = kTurns.batch});
  const auto timings = time_each_in_turns(subjects, kTurns);
  report.cases.push_back({.name = std::string{kOneCaller},
                          .ops_s = 1e9 / timings[1].p50_ns,
                          .p50_ns = timings[1].p50_ns,
                          .p99_ns = timings[1].p99_ns,
                          .limit_name = "two bare EVALSHA round trips",
                          .limit = timings[0].p50_ns,
                          .ratio = timings[0].p50_ns / timings[1].p50_ns,
                          .target = 1 / 1.15});
}

/// How many pairs per second many callers make.
using Rate = double (*)(Client& client);

/// The same by one connection that always has as many requests under way. In two halves, so that
/// the server has one of them to work at while the answers to the other are read.
class Pipeline {
 public:
  explicit Pipeline(BareClient& bare) : bare_{bare} {
    for (std::size_t i = 0; i < kCallers; ++i) {
      const std::string name = "pipe/" + std::to_string(i);
      halves_[i % 2].acquire += bare.acquire_request(name).bytes;
      halves_[i % 2].release += bare.release_request(name).bytes;
    }
  }

  double rate() {
    const TimePoint begun = BootClock::now();
    std::uint64_t requests = 0;
    bare_.send(halves_[0].acquire);
    for (; BootClock::now() < begun + kWindow; requests += 2 * kCallers) {
      step(halves_[1].acquire);
      step(halves_[0].release);
      step(halves_[1].release);
      step(halves_[0].acquire);
    }
    bare_.read_answers(kCallers / 2);
    const std::chrono::duration<double> spent = BootClock::now() - begun;
    return static_cast<double>(requests) / 2 / spent.count();
  }

 private:
  struct Half {
    std::string acquire;
    std::string release;
  };

  void step(const std::string& next) {
    bare_.send(next);
    bare_.read_answers(kCallers / 2);
  }

  BareClient& bare_;
  std::array<Half, 2> halves_;
};

struct Crowd {
  std::string name;
  Rate rate;
  /// Zero: for comparison alone.
  double target;
};

void add_many(Report& report, Client& client, BareClient& bare, const Crowd& crowd) {
  Pipeline pipeline{bare};
  std::vector<double> ours;
  std::vector<double> limits;
  for (int i = 0; i < kWindows; ++i) {
    limits.push_back(1e9 / pipeline.rate());
    ours.push_back(1e9 / crowd.rate(client));
  }
  const Timing limit = summarise(limits);
  const Timing holdfast = summarise(ours);
  report.cases.push_back({.name = crowd.name + ", time per acquire+release",
                          .ops_s = 1e9 / holdfast.p50_ns,
                          .p50_ns = holdfast.p50_ns,
                          .p99_ns = holdfast.p99_ns,
                          .limit_name = "bare EVALSHA, 64 pipelined",
                          .limit = limit.p50_ns,
                          .ratio = limit.p50_ns / holdfast.p50_ns,
                          .target = crowd.target});
}

}  // namespace

Result<void> add_callers(Report& report, const RedisServer& server, const Progress& progress) {
  auto client = Client::connect(server.url());
  if (!client) return Unexpected{client.error()};
  auto bare = BareClient::connect(server.port());
  if (!bare) return Unexpected{bare.error()};
  progress("one caller");
  add_one(report, *client, *bare);
  progress("64 callers");
  add_many(report, *client, *bare, {"64 callers", &coroutines_rate, 0.85});
  progress("64 threads");
  add_many(report, *client, *bare, {"64 threads", &threads_rate, 0});
  return {};
}

}  // namespace holdfast::bench
