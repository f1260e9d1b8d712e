// A job that eight hosts start whenever they like: once per interval it runs, whatever their clocks
// show and whoever dies.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "recipes/claim_interval.h"
#include "tests/scenarios/sim_locks.h"

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kHosts = 8;
constexpr std::size_t kRuns = 6;
constexpr Millis kInterval = 10s;
constexpr Millis kTtl = 4s;
/// How long a host waits before it starts the job again.
constexpr Duration kPause = 2s;
/// What messages take, and what a host does after its grant.
constexpr Duration kSlack = 200ms;
/// What clocks that are right show when a world begins, and how wrong those of hosts are.
constexpr TimePoint kNoon{12h};
constexpr Duration kSkewMax = 5s;

enum class Schedule {
  by_lease,
  /// The time of the last run is kept where everybody sees it, and compared with one's own clock.
  by_host_clock,
};

class Fleet {
 public:
  Fleet(std::uint64_t seed, const Protocol& protocol, Schedule schedule)
      : world_{seed, protocol, kTtl}, chance_{~seed}, schedule_{schedule} {
    for (std::size_t i = 0; i < kHosts; ++i) {
      const ClientId host = world().add_client("host" + std::to_string(i));
      world().client(host).env().set_clock(kNoon + chance_.between(-kSkewMax, kSkewMax));
    }
  }

  World& world() { return world_.world(); }
  const std::vector<TimePoint>& runs() const { return runs_; }

  /// How far the clocks of any two hosts differ, as the recipe reads them.
  Duration clocks_apart() {
    std::array<TimePoint, kHosts> shown;
    for (std::size_t i = 0; i < kHosts; ++i) shown.at(i) = SimLocks{world_, {i}}.now();
    const auto [first, last] = std::ranges::minmax(shown);
    return last - first;
  }

  /// Every second host that runs the job dies of it.
  void let_runners_die() { deadly_ = true; }

  /// Whether the job ran as often as asked.
  bool run() {
    for (std::size_t i = 0; i < kHosts; ++i) {
      world().client({i}).env().spawn(host({i}, Chance{chance_.draw()}));
    }
    return world().scheduler().run_until(
        [&] {
          if (doomed_) world().kill(*doomed_);
          doomed_.reset();
          return runs_.size() >= kRuns;
        },
        kInterval * (kRuns + 2));
  }

 private:
  Task<void> host(ClientId client, Chance chance) {
    SimEnv& env = world().client(client).env();
    SimLocks locks{world_, client};
    for (;;) {
      co_await env.sleep_for(chance.between(Duration{0}, kPause));
      auto attempt =
          schedule_ == Schedule::by_lease ? by_lease(locks, client) : by_host_clock(locks, client);
      auto held = co_await std::move(attempt);
      if (held.empty()) continue;
      co_await env.sleep_for(chance.between(Duration{0}, 1s));
      co_await locks.give_back(std::move(held));
    }
  }

  Task<std::vector<SimLocks::Lease>> by_lease(SimLocks& locks, ClientId client) {
    recipes::IntervalClaim claim{.interval_lock = "job~interval",
                                 .interval = kInterval,
                                 .names = {"job"},
                                 .options = {.ttl = kTtl, .wait = Millis{0}}};
    recipes::IntervalTaking<SimLocks> taking{locks, std::move(claim), {}};
    auto claimed = co_await taking.run();
    if (!claimed) co_return std::vector<SimLocks::Lease>{};
    begin_run(client);
    co_return std::move(claimed->locks);
  }

  Task<std::vector<SimLocks::Lease>> by_host_clock(SimLocks& locks, ClientId client) {
    std::vector<std::string> job{"job"};
    const AcquireOptions options{.ttl = kTtl, .wait = Millis{0}};
    const std::stop_token never;
    auto taken = co_await recipes::take_all(locks, std::move(job), options, never);
    if (!taken) co_return std::vector<SimLocks::Lease>{};
    const TimePoint shown = locks.now();
    if (last_shown_ && shown - *last_shown_ < kInterval) {
      co_await locks.give_back(*std::move(taken));
      co_return std::vector<SimLocks::Lease>{};
    }
    last_shown_ = shown;
    begin_run(client);
    co_return *std::move(taken);
  }

  void begin_run(ClientId client) {
    runs_.push_back(world().now());
    if (deadly_ && runs_.size() % 2 == 0) doomed_ = client;
  }

  RecipeWorld world_;
  Chance chance_;
  Schedule schedule_;
  bool deadly_{false};
  std::optional<TimePoint> last_shown_;
  std::optional<ClientId> doomed_;
  std::vector<TimePoint> runs_;
};

Duration shortest_gap(const std::vector<TimePoint>& runs) {
  Duration shortest = Duration::max();
  for (std::size_t i = 1; i < runs.size(); ++i)
    shortest = std::min(shortest, runs[i] - runs[i - 1]);
  return shortest;
}

Duration longest_gap(const std::vector<TimePoint>& runs) {
  Duration longest{0};
  for (std::size_t i = 1; i < runs.size(); ++i) longest = std::max(longest, runs[i] - runs[i - 1]);
  return longest;
}

std::uint64_t seeds() {
  const char* asked = std::getenv("HOLDFAST_SEEDS");
  return asked == nullptr ? 50 : std::strtoull(asked, nullptr, 10);
}

class IntervalScenario : public testing::TestWithParam<const char*> {
 protected:
  const Protocol& protocol_ = *find_protocol(GetParam());
};
INSTANTIATE_TEST_SUITE_P(Protocol,
                         IntervalScenario,
                         testing::Values("redis", "redlock", "etcd", "zookeeper", "postgres"),
                         [](const auto& param) { return std::string{param.param}; });

// A run begins a moment after its grant, so two of them may be closer by that moment.
TEST_P(IntervalScenario, TheJobRunsOncePerIntervalWhateverTheClocksOfHostsShow) {
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
    Fleet fleet{seed, protocol_, Schedule::by_lease};
    ASSERT_GE(fleet.clocks_apart(), kSkewMax / 2) << "seed " << seed;
    ASSERT_LE(fleet.clocks_apart(), 2 * kSkewMax) << "seed " << seed;
    ASSERT_TRUE(fleet.run()) << "seed " << seed << ": ran " << fleet.runs().size() << " times";
    EXPECT_GE(shortest_gap(fleet.runs()), kInterval - kSlack) << "seed " << seed;
    // Somebody comes within a pause of its end. ZooKeeper looks at sessions once per tick.
    EXPECT_LE(longest_gap(fleet.runs()), kInterval + kPause + 3s) << "seed " << seed;
  }
}

TEST_P(IntervalScenario, AHostThatDiesOfItDoesNotLetItRunAgain) {
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
    Fleet fleet{seed, protocol_, Schedule::by_lease};
    fleet.let_runners_die();
    ASSERT_TRUE(fleet.run()) << "seed " << seed << ": ran " << fleet.runs().size() << " times";
    EXPECT_GE(shortest_gap(fleet.runs()), kInterval - kSlack) << "seed " << seed;
  }
}

// What it would be like to ask the same clocks what time it is.
TEST_P(IntervalScenario, ByTheClocksOfHostsItRunsTwice) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Fleet fleet{seed, protocol_, Schedule::by_host_clock};
    fleet.run();
    if (shortest_gap(fleet.runs()) < kInterval - 1s) return;
  }
  ADD_FAILURE() << "clocks that differ by seconds made no difference";
}

}  // namespace
}  // namespace holdfast::sim
