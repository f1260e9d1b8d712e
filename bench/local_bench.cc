#include "bench/local_bench.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>

#include "base/assert.h"
#include "bench/hand_over.h"
#include "bench/idle_waiters.h"
#include "bench/limit_bench.h"
#include "bench/sampling.h"
#include "bench/scratch.h"
#include "bench/store_bench.h"
#include "engines/local/engine.h"
#include "engines/local/local_backend.h"
#include "holdfast/client.h"
#include "holdfast/metrics.h"

namespace holdfast::bench {
namespace {

constexpr auto kHotName = "orders/2026/eu";
constexpr int kOtherNames = 1'000'000;

Case compare(std::string name,
             const Timing& ours,
             std::string limit_name,
             const Timing& limit,
             double target) {
  return {.name = std::move(name),
          .ops_s = 1e9 / ours.p50_ns,
          .p50_ns = ours.p50_ns,
          .p99_ns = ours.p99_ns,
          .limit_name = std::move(limit_name),
          .limit = limit.p50_ns,
          .ratio = limit.p50_ns / ours.p50_ns,
          .target = target};
}

// The least any lock with a lease can cost: one reading of the clock and a pair of swaps.
Subject floor_subject() {
  static std::atomic<std::uint64_t> word{0};
  return {.name = "floor", .body = [] {
            const TimePoint now = BootClock::now();
            const auto held = static_cast<std::uint64_t>(now.time_since_epoch().count());
            std::uint64_t expected = 0;
            HOLDFAST_ASSERT(word.compare_exchange_strong(expected, held));
            expected = held;
            HOLDFAST_ASSERT(word.compare_exchange_strong(expected, 0));
          }};
}

class FlockFile {
 public:
  explicit FlockFile(const std::string& directory)
      : fd_{open((directory + "/flock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)} {}
  ~FlockFile() { close(fd_); }
  FlockFile(const FlockFile&) = delete;
  FlockFile& operator=(const FlockFile&) = delete;

  Subject subject() const {
    return {.name = "flock", .body = [fd = fd_] {
              HOLDFAST_ASSERT(flock(fd, LOCK_EX) == 0);
              HOLDFAST_ASSERT(flock(fd, LOCK_UN) == 0);
            }};
  }

 private:
  int fd_;
};

// Name, owner, token and deadline included; no lease object.
Subject engine_subject(local::Engine& engine) {
  return {.name = "engine", .body = [&engine] {
            const local::Request request{.ttl = Millis{30'000}};
            auto ticket = engine.enter(kHotName, request, BootClock::now());
            HOLDFAST_ASSERT(ticket && engine.take_if_first(*ticket));
            HOLDFAST_ASSERT(engine.leave(*ticket) == local::Mark::left);
          }};
}

Subject api_subject(std::string name, Client& client) {
  return {.name = std::move(name), .body = [&client] {
            auto lease = client.acquire(kHotName);
            HOLDFAST_ASSERT(lease && lease->release() == ReleaseOutcome::released);
          }};
}

local::Engine& engine_of(Client& client) {
  return dynamic_cast<local::LocalBackend&>(*client.backend()).protocol();
}

void add_uncontended(Report& report, Client& client, const std::string& directory) {
  const FlockFile flock_file{directory};
  Client counted = observed(client, std::make_shared<Metrics>());
  const auto timings = time_in_turns({floor_subject(),
                                      flock_file.subject(),
                                      engine_subject(engine_of(client)),
                                      api_subject("api", client),
                                      api_subject("observed api", counted)});
  const Timing& lowest = timings[0];
  const Timing& by_flock = timings[1];
  report.cases.push_back(
      compare("engine acquire+release", timings[2], "flock(2) lock+unlock", by_flock, 5));
  report.cases.push_back(
      compare("engine acquire+release", timings[2], "clock read + swap pair", lowest, 1.0 / 3));
  report.cases.push_back(
      compare("API acquire+release", timings[3], "flock(2) lock+unlock", by_flock, 2));
  report.cases.push_back(compare(
      "API with metrics, acquire+release", timings[4], "without metrics", timings[3], 1 / 1.1));
}

void add_many_names(Report& report, Client& client) {
  local::Engine& engine = engine_of(client);
  const Timing before = time_in_turns({engine_subject(engine)})[0];
  const std::uint64_t bytes_before = engine.header().end_bytes.load();
  for (int i = 0; i < kOtherNames; ++i) {
    auto ticket =
        engine.enter("job/" + std::to_string(i), {.ttl = Millis{30'000}}, BootClock::now());
    HOLDFAST_ASSERT(ticket.has_value());
    engine.leave(*ticket);
  }
  const Timing after = time_in_turns({engine_subject(engine)})[0];
  const auto bytes = static_cast<double>(engine.header().end_bytes.load() - bytes_before);
  report.cases.push_back(
      compare("same name after 1 000 000 others", after, "before them", before, 1 / 1.5));
  // Twice the smallest piece of memory would be one slot and its share of the index, never reused.
  report.cases.push_back({.name = "memory per idle name",
                          .p50_ns = bytes / kOtherNames,
                          .p99_ns = bytes / kOtherNames,
                          .limit_name = "one slot of 64 bytes each",
                          .limit = 64,
                          .unit = "bytes",
                          .ratio = 64 * kOtherNames / bytes,
                          .target = 1});
}

Case idle_case(const IdleCost& cost) {
  // Resolution of the measure: a thousandth of a core is as good as none.
  constexpr double kNothing = 0.001;
  const double share = cost.cpu_seconds / cost.wall_seconds;
  return {.name = "1 000 idle waiters, share of a core",
          .p50_ns = share,
          .p99_ns = share,
          .limit_name = "a thousandth of a core",
          .limit = kNothing,
          .unit = "cores",
          .ratio = share <= kNothing ? 1 : kNothing / share,
          .target = 1};
}

}  // namespace

Result<Report> run_local(const Progress& progress) {
  Report report{.engine = "local", .cases = {}};
  progress("hand-over between two processes");
  const auto hand_over = time_hand_over();
  if (!hand_over) return Unexpected{hand_over.error()};
  const Scratch scratch;
  auto client = Client::connect("local:" + scratch.path());
  if (!client) return Unexpected{client.error()};
  progress("uncontended acquire and release");
  add_uncontended(report, *client, scratch.path());
  report.cases.push_back(compare("hand-over to a sleeping process",
                                 hand_over->holdfast,
                                 "robust pthread mutex",
                                 hand_over->robust_mutex,
                                 1));
  progress("1 000 idle waiters");
  const auto idle = time_idle_waiters();
  if (!idle) return Unexpected{idle.error()};
  report.cases.push_back(idle_case(*idle));
  progress("rate limits");
  if (auto added = add_limits(report, *client); !added) return Unexpected{added.error()};
  progress("1 000 000 other names");
  add_many_names(report, *client);
  if (auto added = add_store(report, progress); !added) return Unexpected{added.error()};
  return report;
}

}  // namespace holdfast::bench
