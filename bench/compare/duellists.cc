#include "bench/compare/duellists.h"

#include <unistd.h>

#include <thread>

#include "holdfast/client.h"

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

// Of servers, to have compiled and cached what they need.
constexpr Duration kWarmUp = 1s;
constexpr Duration kPairs = 2s;
// Reading the clock twice is not to be seen in a sample.
constexpr Duration kSampleLeast = 20us;

constexpr std::size_t kHandOvers = 500;
constexpr std::size_t kHandOversLeast = 20;
constexpr int kHandOversWarmUp = 20;
constexpr Duration kHandOverTime = 5s;
// How long nothing is done before a turn: long enough for everybody to be at rest.
constexpr Duration kRest = 3ms;

using Samples = std::vector<double>;

std::int64_t now_ns() { return BootClock::now().time_since_epoch().count(); }

/// A name that nobody else uses, on an engine that others may use as well.
std::string lock_of(pid_t watcher, std::string_view what) {
  return "holdfast-bench/" + std::to_string(watcher) + "/" + std::string{what};
}

Result<void> pair_once(Client& client, const std::string& name) {
  auto lease = client.acquire(name);
  if (!lease) return Unexpected{Error{lease.error()}};
  if (lease->release() == ReleaseOutcome::released) return {};
  return Unexpected{Error{Errc::lost, "a lease was lost while it was measured"}};
}

/// How many pairs fit into the time.
Result<std::int64_t> warm_up(Client& client, const std::string& name) {
  std::int64_t pairs = 0;
  for (const TimePoint end = BootClock::now() + kWarmUp; BootClock::now() < end; ++pairs) {
    if (auto done = pair_once(client, name); !done) return Unexpected{done.error()};
  }
  return pairs;
}

Result<Samples> time_pairs(Client& client) {
  const std::string name = lock_of(getppid(), "pair");
  const auto warm = warm_up(client, name);
  if (!warm) return Unexpected{warm.error()};
  const std::int64_t batch = 1 + *warm * kSampleLeast.count() / kWarmUp.count();
  Samples samples;
  for (const TimePoint end = BootClock::now() + kPairs; BootClock::now() < end;) {
    const TimePoint before = BootClock::now();
    for (std::int64_t i = 0; i < batch; ++i) {
      if (auto done = pair_once(client, name); !done) return Unexpected{done.error()};
    }
    const Duration spent = BootClock::now() - before;
    samples.push_back(static_cast<double>(spent.count()) / static_cast<double>(batch));
  }
  return samples;
}

Result<void> await_waiter(Client& client, const std::string& name) {
  for (;;) {
    const auto seen = client.inspect(name);
    if (!seen) return Unexpected{seen.error()};
    if (!seen->waiters.empty()) return {};
    std::this_thread::sleep_for(200us);
  }
}

/// How long one turn took, in nanoseconds.
Result<double> hand_over(Stage& stage, Client& client, int turn) {
  const std::string name = lock_of(getppid(), "turn");
  auto lease = client.acquire(name);
  if (!lease) return Unexpected{Error{lease.error()}};
  stage.turn.store(turn);
  if (auto waits = await_waiter(client, name); !waits) return Unexpected{waits.error()};
  std::this_thread::sleep_for(kRest);
  const std::int64_t gave_at = now_ns();
  if (lease->release() != ReleaseOutcome::released) {
    return Unexpected{Error{Errc::lost, "a lease was lost while it was measured"}};
  }
  // Not by spinning: server and receiver need the processors.
  while (stage.had.load() < turn) std::this_thread::sleep_for(100us);
  return static_cast<double>(stage.had_at_ns.load() - gave_at);
}

Result<Samples> time_hand_overs(Stage& stage, Client& client) {
  Samples samples;
  const TimePoint end = BootClock::now() + kHandOverTime;
  for (int turn = 0; samples.size() < kHandOvers; ++turn) {
    if (samples.size() >= kHandOversLeast && BootClock::now() >= end) break;
    const auto took = hand_over(stage, client, turn);
    if (!took) return Unexpected{took.error()};
    if (turn >= kHandOversWarmUp) samples.push_back(*took);
  }
  return samples;
}

Figure figure_of(Samples samples) {
  const std::uint64_t count = samples.size();
  return {.timing = summarise(std::move(samples)), .samples = count};
}

Result<Figures> measure(Stage& stage, const DuelOptions& options) {
  if (options.prepare) {
    if (auto prepared = options.prepare(); !prepared) return Unexpected{prepared.error()};
  }
  auto client = Client::connect(options.url);
  if (!client) return Unexpected{client.error()};
  stage.giver_ready.store(true);
  while (!stage.receiver_ready.load()) std::this_thread::sleep_for(1ms);
  stage.part.store(Stage::Part::pairs);
  auto pairs = time_pairs(*client);
  if (!pairs) return Unexpected{pairs.error()};
  stage.part.store(Stage::Part::hand_overs);
  auto hand_overs = time_hand_overs(stage, *client);
  if (!hand_overs) return Unexpected{hand_overs.error()};
  return Figures{.pair = figure_of(*std::move(pairs)),
                 .hand_over = figure_of(*std::move(hand_overs))};
}

}  // namespace

void give(Stage& stage, const DuelOptions& options) {
  const auto figures = measure(stage, options);
  if (!figures) return stage.fail(figures.error());
  stage.figures = *figures;
  stage.part.store(Stage::Part::done);
}

void receive(Stage& stage, const std::string& url) {
  while (!stage.giver_ready.load()) std::this_thread::sleep_for(1ms);
  auto client = Client::connect(url);
  if (!client) return stage.fail(client.error());
  stage.receiver_ready.store(true);
  const std::string name = lock_of(getppid(), "turn");
  for (int turn = 0;; ++turn) {
    // While pairs are measured it leaves the processors alone.
    while (stage.turn.load() < turn) std::this_thread::sleep_for(turn == 0 ? Duration{5ms} : 100us);
    auto lease = client->acquire(name);
    const std::int64_t had_at = now_ns();
    if (!lease) return stage.fail(lease.error());
    stage.had_at_ns.store(had_at);
    stage.had.store(turn);
    lease->release();
  }
}

}  // namespace holdfast::bench
