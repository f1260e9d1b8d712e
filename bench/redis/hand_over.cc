#include "bench/redis/hand_over.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <thread>

#include "base/assert.h"
#include "bench/peers.h"
#include "bench/redis/bare_client.h"
#include "bench/sampling.h"
#include "engines/redis/redis_keys.h"
#include "holdfast/client.h"

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

constexpr int kSamples = 1'100;
constexpr int kWarmUp = 100;
constexpr auto kName = "turn";

// How long the giver holds the lock: long enough for its client, and the server, to be at rest.
constexpr Duration kSection = 3ms;

// What the two processes share.
struct Stage {
  /// How often the giver has taken the lock back, before the first time -1.
  std::atomic<int> given{-1};
  std::atomic<int> had;
  std::atomic<std::int64_t> had_at_ns;
};

std::int64_t now_ns() { return BootClock::now().time_since_epoch().count(); }

void wait_for(const std::atomic<int>& word, int value) {
  while (word.load() < value) std::this_thread::yield();
}

[[noreturn]] void receive(Stage& stage, const std::string& url) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  auto client = Client::connect(url);
  if (!client) _exit(1);
  for (int n = 1; n <= kSamples; ++n) {
    wait_for(stage.given, n - 1);
    auto lease = client->acquire(kName);
    stage.had_at_ns.store(now_ns());
    HOLDFAST_ASSERT(lease.has_value());
    stage.had.store(n);
    lease->release();
  }
  _exit(0);
}

struct Samples {
  std::vector<double> hand_overs;
  std::vector<double> round_trips;
};

void rest() {
  for (const TimePoint end = BootClock::now() + kSection; BootClock::now() < end;) {
  }
}

Samples give(Stage& stage, Client& client, BareClient& bare) {
  const auto acquire = bare.acquire_request("bare");
  const auto release = bare.release_request("bare");
  const std::string queue = redis::Keys{"hf:"}.queue(LockName{kName});
  Samples samples;
  std::optional<Lease> lease{*client.acquire(kName)};
  stage.given.store(0);
  for (int n = 1; n <= kSamples; ++n) {
    while (bare.number({"LLEN", queue}) == 0) std::this_thread::yield();
    // Both from rest: a server that has just worked answers in half the time.
    rest();
    const std::int64_t asked_at = now_ns();
    bare.round_trip(n % 2 == 0 ? acquire : release);
    const std::int64_t answered_at = now_ns();
    rest();
    const std::int64_t gave_at = now_ns();
    lease->release();
    wait_for(stage.had, n);
    if (n > kWarmUp) {
      samples.hand_overs.push_back(static_cast<double>(stage.had_at_ns.load() - gave_at));
      samples.round_trips.push_back(static_cast<double>(answered_at - asked_at));
    }
    lease.emplace(*client.acquire(kName));
    stage.given.store(n);
  }
  return samples;
}

Case hand_over_case(std::string name, const Timing& ours, double shown, double limit, double most) {
  return {.name = std::move(name),
          .ops_s = 1e9 / ours.p50_ns,
          .p50_ns = ours.p50_ns,
          .p99_ns = ours.p99_ns,
          .limit_name = "one bare EVALSHA round trip",
          .limit = limit,
          .ratio = limit / shown,
          .target = 1 / most};
}

}  // namespace

Result<void> add_hand_over(Report& report, const RedisServer& server, const Progress& progress) {
  progress("hand-over between two processes");
  void* memory =
      mmap(nullptr, sizeof(Stage), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return Unexpected{Error{Errc::io_error, "cannot make room for the hand-over benchmark"}};
  }
  auto* stage = new (memory) Stage{};
  const pid_t receiver = fork();
  if (receiver == 0) receive(*stage, server.url());
  if (receiver < 0) {
    return Unexpected{Error{Errc::io_error, std::string{"cannot fork: "} + std::strerror(errno)}};
  }
  auto client = Client::connect(server.url());
  if (!client) return Unexpected{client.error()};
  auto bare = BareClient::connect(server.port());
  if (!bare) return Unexpected{bare.error()};
  Samples samples = give(*stage, *client, *bare);
  waitpid(receiver, nullptr, 0);
  munmap(memory, sizeof(Stage));
  const Timing ours = summarise(std::move(samples.hand_overs));
  const double limit = summarise(std::move(samples.round_trips)).p50_ns;
  report.cases.push_back(hand_over_case(std::string{kHandOver}, ours, ours.p50_ns, limit, 1.5));
  report.cases.push_back(hand_over_case("contended hand-over, 99 %", ours, ours.p99_ns, limit, 3));
  return {};
}

}  // namespace holdfast::bench
