// Processes that take allowances from one book, in virtual time: what they may do together, however
// slow the book is, whatever their clocks show, and whoever is paused or killed.

#include "core/leased_limits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "core/limit_excess_testing.h"
#include "sim/world/chance.h"
#include "sim/world/sim_env.h"

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;

/// Pages of all processes.
struct SharedBook {
  std::map<std::string, LimitPage> pages;
  std::int64_t last_version{0};
  int swaps{0};
};

/// One process's way to them: each answer takes a while.
class RemoteBook final : public LimitBook {
 public:
  RemoteBook(Env& env, sim::Scheduler& scheduler, SharedBook& shared, Duration skew)
      : env_{env}, scheduler_{scheduler}, shared_{shared}, skew_{skew} {}

  Task<Result<Duration>> time(TimePoint) override {
    co_return scheduler_.now().time_since_epoch() + 1'000'000h + skew_;
  }

  Task<Result<Swapped>> swap(
      const std::string& key, const LimitPage& seen, AheadMark mark, Duration, TimePoint) override {
    co_await env_.sleep_for(Duration{env_.draw() % 3'000'000});
    ++shared_.swaps;
    LimitPage& page = shared_.pages[key];
    Swapped swapped{.made = page.version == seen.version};
    if (swapped.made) page = {LimitPage::Known::present, mark, ++shared_.last_version};
    swapped.page = page;
    if (page.version == 0) swapped.page.known = LimitPage::Known::absent;
    co_await env_.sleep_for(Duration{env_.draw() % 3'000'000});
    co_return swapped;
  }

 private:
  Env& env_;
  sim::Scheduler& scheduler_;
  SharedBook& shared_;
  Duration skew_;
};

struct World {
  sim::Scheduler scheduler;
  SharedBook book;
  /// When permits were to be used, in true time.
  std::vector<TimePoint> uses;
  int refused{0};
};

class Process {
 public:
  Process(World& world, std::uint64_t seed, Duration skew)
      : world_{world},
        env_{world.scheduler, seed},
        limits_{env_, std::make_shared<RemoteBook>(env_, world.scheduler, world.book, skew)} {}

  /// A caller that asks again and again, and does what it may.
  void call(Take take, Duration pause) { env_.spawn(calls(take, pause)); }

  /// Once. What came of it is told in `to`.
  void call_once(Take take, std::optional<RateDecision>& to) { env_.spawn(calls_once(take, to)); }

  sim::SimEnv& env() { return env_; }

 private:
  Task<void> calls(Take take, Duration pause) {
    while (true) {
      const std::string key{"key"};
      const auto decision = co_await limits_.reserve(key, take, env_.now() + 5s);
      if (decision && decision->allowed) {
        world_.uses.push_back(world_.scheduler.now() + decision->delay);
        if (decision->delay > 0s) co_await env_.sleep_for(decision->delay);
      } else {
        ++world_.refused;
      }
      co_await env_.sleep_for(pause + Duration{env_.draw() % 1'000'000});
    }
  }
  Task<void> calls_once(Take take, std::optional<RateDecision>& to) {
    const std::string key{"key"};
    const auto decision = co_await limits_.reserve(key, take, env_.now() + 5s);
    if (decision) to = *decision;
  }

  World& world_;
  sim::SimEnv env_;
  LeasedLimits limits_;
};

Take take_of(const RateLimit& limit, const TakeOptions& options = {}) {
  return to_take(limit, options).value();
}

/// What purse.h promises: the most that may be used in any time beyond what the rate gives.
Duration slack(const Take& take) { return Purse::kLife + std::max(take.tolerance, Purse::kSpan); }

TEST(LeasedLimitsTest, ManyCallersOfManyProcessesGetTheRateTogether) {
  World world;
  const Take take = take_of({.rate = Rate::per_second(500), .burst = 10}, {.wait = 24h});
  std::vector<std::unique_ptr<Process>> processes;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    processes.push_back(std::make_unique<Process>(world, seed, 0s));
    for (int i = 0; i < 16; ++i) processes.back()->call(take, 0s);
  }
  world.scheduler.advance(2s);
  const std::size_t before = world.uses.size();
  world.scheduler.advance(10s);
  EXPECT_NEAR(static_cast<double>(world.uses.size() - before), 5000, 50);
  EXPECT_LE(largest_excess(world.uses, take.interval), slack(take));
}

TEST(LeasedLimitsTest, TheEngineIsAskedAFewTimesASecondWhateverTheRate) {
  World world;
  const Take take = take_of({.rate = Rate::per_second(2000)});
  Process process{world, 1, 0s};
  for (int i = 0; i < 16; ++i) process.call(take, 1ms);
  world.scheduler.advance(2s);
  const int before = world.book.swaps;
  world.scheduler.advance(10s);
  EXPECT_GT(world.refused, 10'000);
  EXPECT_LE(world.book.swaps - before, 100);
}

TEST(LeasedLimitsTest, AProcessAloneKeepsRateAndBurstExactly) {
  World world;
  const Take take = take_of({.rate = Rate::per_second(1000), .burst = 3});
  Process process{world, 1, 0s};
  for (int i = 0; i < 4; ++i) process.call(take, 0s);
  world.scheduler.advance(5s);
  EXPECT_LE(largest_excess(world.uses, take.interval), take.tolerance);
  EXPECT_GT(world.uses.size(), 4000U);
}

TEST(LeasedLimitsTest, ARefusalSaysWhenToComeBackAndIsNotAskedForTwice) {
  World world;
  const Take take = take_of({.rate = Rate::per_minute(1)});
  Process first{world, 1, 0s};
  Process second{world, 2, 0s};
  std::optional<RateDecision> told;
  first.call_once(take, told);
  world.scheduler.advance(1s);
  EXPECT_TRUE(told.value().allowed);
  second.call_once(take, told);
  world.scheduler.advance(1s);
  EXPECT_FALSE(told.value().allowed);
  EXPECT_GT(told->retry_after, 55s);
  EXPECT_LE(told->retry_after, 60s);
  const int swaps = world.book.swaps;
  second.call_once(take, told);
  world.scheduler.advance(1s);
  EXPECT_FALSE(told.value().allowed);
  EXPECT_EQ(world.book.swaps, swaps);
}

TEST(LeasedLimitsTest, AClockThatIsBehindFollowsTheOneThatIsAhead) {
  World world;
  const Take take = take_of({.rate = Rate::per_second(100), .burst = 1}, {.wait = 24h});
  Process ahead{world, 1, 1h};
  Process behind{world, 2, 0s};
  for (int i = 0; i < 8; ++i) ahead.call(take, 0s);
  for (int i = 0; i < 8; ++i) behind.call(take, 0s);
  world.scheduler.advance(10s);
  EXPECT_GT(world.uses.size(), 950U);
  EXPECT_LE(largest_excess(world.uses, take.interval), slack(take));
}

/// Callers of all kinds, processes that are paused, killed and begun anew, clocks that differ by up
/// to a second: over no time is more used than was promised, and a second of the rate for the
/// clocks.
TEST(LeasedLimitsTest, NoTimeHasMoreThanPromisedWhateverHappensToProcesses) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    sim::Chance chance{seed};
    World world;
    const RateLimit limit{.rate = Rate::per_second(5 + chance.draw() % 2000),
                          .burst = 1 + chance.draw() % 20};
    const Take take = take_of(limit, {.wait = Millis{chance.draw() % 3 * 400}});
    std::vector<std::unique_ptr<Process>> processes;
    const auto begin_one = [&] {
      const Duration skew{chance.draw() % 1'000'000'000};
      processes.push_back(std::make_unique<Process>(world, chance.draw(), skew));
      for (std::uint64_t i = 0; i <= chance.draw() % 6; ++i) {
        processes.back()->call(take, Duration{chance.draw() % 20'000'000});
      }
    };
    for (int i = 0; i < 4; ++i) begin_one();
    for (int step = 0; step < 40; ++step) {
      world.scheduler.advance(Duration{chance.draw() % 300'000'000});
      Process& struck = *processes[chance.draw() % processes.size()];
      switch (chance.draw() % 4) {
        case 0:
          struck.env().pause();
          break;
        case 1:
          struck.env().resume();
          break;
        case 2:
          struck.env().kill();
          begin_one();
          break;
        default:
          break;
      }
    }
    ASSERT_LE(largest_excess(world.uses, take.interval), slack(take) + 1s) << "seed " << seed;
    ASSERT_FALSE(world.uses.empty()) << "seed " << seed;
    // Before the book that their tasks refer to.
    processes.clear();
  }
}

}  // namespace
}  // namespace holdfast::core
