#include "bench/queue_hand_over.h"

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
#include "bench/sampling.h"
#include "holdfast/client.h"

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

constexpr int kSamples = 550;
constexpr int kWarmUp = 50;
constexpr auto kName = "turn";

// How long nothing is done before a turn: long enough for the clients and the server to be at rest.
constexpr Duration kRest = 3ms;

// What the two processes share.
struct Stage {
  enum class Receiver : std::uint8_t { starting, ready, failed };

  std::atomic<Receiver> receiver{Receiver::starting};
  /// How often the giver has taken the lock back, before the first time -1.
  std::atomic<int> given{-1};
  /// How often the receiver has begun to watch, has had the lock, and has made the bare request.
  std::atomic<int> watches;
  std::atomic<int> had;
  std::atomic<int> bare_had;
  std::atomic<std::int64_t> had_at_ns;
  std::atomic<std::int64_t> bare_heard_at_ns;
  std::atomic<std::int64_t> bare_had_at_ns;
};

std::int64_t now_ns() { return BootClock::now().time_since_epoch().count(); }

// Not by spinning: server and receiver need the processors.
void wait_for(const std::atomic<int>& word, int value) {
  while (word.load() < value) std::this_thread::sleep_for(50us);
}

[[noreturn]] void receive(Stage& stage, const HandOverEnds& ends) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  auto client = Client::connect(ends.url);
  auto bare = ends.receiver();
  if (!client || !bare) {
    stage.receiver.store(Stage::Receiver::failed);
    _exit(1);
  }
  stage.receiver.store(Stage::Receiver::ready);
  for (int n = 1; n <= kSamples; ++n) {
    wait_for(stage.given, n - 1);
    (*bare)->watch();
    stage.watches.store(n);
    (*bare)->wait();
    stage.bare_heard_at_ns.store(now_ns());
    (*bare)->ask();
    stage.bare_had_at_ns.store(now_ns());
    stage.bare_had.store(n);
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
  std::vector<double> news;
  std::vector<double> requests;
};

Samples give(Stage& stage, Client& client, BareGiver& bare) {
  Samples samples;
  std::optional<Lease> lease{*client.acquire(kName)};
  bare.put();
  stage.given.store(0);
  for (int n = 1; n <= kSamples; ++n) {
    wait_for(stage.watches, n);
    std::this_thread::sleep_for(kRest);
    const std::int64_t erased_at = now_ns();
    bare.erase();
    wait_for(stage.bare_had, n);
    bare.put();
    while (bare.contenders(kName) < 2) std::this_thread::sleep_for(100us);
    std::this_thread::sleep_for(kRest);
    const std::int64_t gave_at = now_ns();
    lease->release();
    wait_for(stage.had, n);
    if (n > kWarmUp) {
      const std::int64_t heard_at = stage.bare_heard_at_ns.load();
      samples.hand_overs.push_back(static_cast<double>(stage.had_at_ns.load() - gave_at));
      samples.news.push_back(static_cast<double>(heard_at - erased_at));
      samples.requests.push_back(static_cast<double>(stage.bare_had_at_ns.load() - heard_at));
    }
    lease.emplace(*client.acquire(kName));
    stage.given.store(n);
  }
  return samples;
}

Result<Samples> measure(const HandOverEnds& ends, Stage& stage) {
  auto client = Client::connect(ends.url);
  if (!client) return Unexpected{client.error()};
  auto bare = ends.giver();
  if (!bare) return Unexpected{bare.error()};
  // What is erased before the other process watches is not heard of.
  while (stage.receiver.load() == Stage::Receiver::starting) std::this_thread::sleep_for(1ms);
  if (stage.receiver.load() == Stage::Receiver::failed) {
    return Unexpected{Error{Errc::unavailable, "the receiving process found no server"}};
  }
  return give(stage, *client, **bare);
}

}  // namespace

Result<void> add_queue_hand_over(Report& report, const HandOverEnds& ends) {
  void* memory =
      mmap(nullptr, sizeof(Stage), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return Unexpected{Error{Errc::io_error, "cannot make room for the hand-over benchmark"}};
  }
  auto* stage = new (memory) Stage{};
  const pid_t receiver = fork();
  if (receiver == 0) receive(*stage, ends);
  if (receiver < 0) {
    return Unexpected{Error{Errc::io_error, std::string{"cannot fork: "} + std::strerror(errno)}};
  }
  auto samples = measure(ends, *stage);
  if (!samples) kill(receiver, SIGKILL);
  waitpid(receiver, nullptr, 0);
  munmap(memory, sizeof(Stage));
  if (!samples) return Unexpected{samples.error()};
  const Timing ours = summarise(std::move(samples->hand_overs));
  const double news = summarise(std::move(samples->news)).p50_ns;
  const double request = summarise(std::move(samples->requests)).p50_ns;
  const double limit = news + 1.2 * request;
  report.cases.push_back({.name = std::string{kHandOver},
                          .ops_s = 1e9 / ours.p50_ns,
                          .p50_ns = ours.p50_ns,
                          .p99_ns = ours.p99_ns,
                          .limit_name = ends.limit_name,
                          .limit = limit,
                          .ratio = limit / ours.p50_ns,
                          .target = 1});
  return {};
}

}  // namespace holdfast::bench
