// Several locks at once, in worlds where messages are lost, processes pause and die: whoever lives
// gets all of its names in the end, and nobody holds one that another holds.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>

#include "recipes/take_all.h"
#include "tests/scenarios/sim_locks.h"

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;

constexpr std::array<std::string_view, 4> kNames{"a", "b", "c", "d"};
constexpr std::size_t kClients = 4;
constexpr int kRounds = 3;

/// How the names of a set are ordered before they are taken.
enum class Order { sorted, as_drawn };

class MultiLockWorld {
 public:
  MultiLockWorld(std::uint64_t seed, const Protocol& protocol, Order order)
      : ttl_{std::max<Millis>(2s, protocol.ttl_min)},
        world_{seed, protocol, ttl_},
        chance_{~seed},
        order_{order} {
    for (std::size_t i = 0; i < kClients; ++i) world().add_client("client" + std::to_string(i));
  }

  World& world() { return world_.world(); }
  int done() const { return done_; }
  int overlaps() const { return overlaps_; }

  void start() {
    for (std::size_t i = 0; i < kClients; ++i) {
      world().client({i}).env().spawn(work({i}, Chance{chance_.draw()}));
    }
  }

  /// Whether everybody who lives has got everything it asked for.
  bool finishes() {
    const int expected = static_cast<int>(kClients - dead_) * kRounds;
    return world().scheduler().run_until([&] { return living_done() >= expected; }, 200 * ttl_);
  }

  /// Somebody dies of it.
  void trouble() {
    killed_[world_.trouble(chance_).index] = true;
    ++dead_;
  }

 private:
  int living_done() const {
    int sum = 0;
    for (std::size_t i = 0; i < kClients; ++i) sum += killed_[i] ? 0 : rounds_[i];
    return sum;
  }

  std::vector<std::string> drawn_names(Chance& chance) const {
    std::vector<std::string> names(kNames.begin(), kNames.end());
    for (std::size_t i = names.size() - 1; i > 0; --i)
      std::swap(names[i], names[chance.below(i + 1)]);
    names.resize(2 + chance.below(2));
    if (order_ == Order::sorted) std::ranges::sort(names);
    return names;
  }

  Task<void> work(ClientId client, Chance chance) {
    SimEnv& env = world().client(client).env();
    SimLocks locks{world_, client};
    while (rounds_[client.index] < kRounds) {
      co_await env.sleep_for(chance.between(Duration{0}, 20ms));
      std::vector<std::string> names = drawn_names(chance);
      const AcquireOptions options{.ttl = ttl_};
      const std::stop_token never;
      auto taken = co_await recipes::take_all(locks, names, options, never);
      // The engine's own trouble. Ask again.
      if (!taken) continue;
      enter(names, *taken);
      co_await env.sleep_for(chance.between(Duration{0}, 20ms));
      for (const std::string& name : names) held_.erase(name);
      co_await locks.give_back(*std::move(taken));
      ++rounds_[client.index];
      ++done_;
    }
  }

  void enter(const std::vector<std::string>& names, const std::vector<SimLocks::Lease>& leases) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto known = held_.find(names[i]);
      const bool stands = known != held_.end() && (known->second.state() == LeaseState::held ||
                                                   known->second.state() == LeaseState::jeopardy);
      overlaps_ += stands ? 1 : 0;
      held_.insert_or_assign(names[i], *leases[i].kept);
    }
  }

  Millis ttl_;
  RecipeWorld world_;
  Chance chance_;
  Order order_;
  std::size_t dead_{0};
  int done_{0};
  int overlaps_{0};
  std::array<int, kClients> rounds_{};
  std::array<bool, kClients> killed_{};
  std::map<std::string, LeaseView> held_;
};

std::uint64_t seeds() {
  const char* asked = std::getenv("HOLDFAST_SEEDS");
  return asked == nullptr ? 150 : std::strtoull(asked, nullptr, 10);
}

class MultiLockScenario : public testing::TestWithParam<const char*> {
 protected:
  const Protocol& protocol_ = *find_protocol(GetParam());
};
INSTANTIATE_TEST_SUITE_P(Protocol,
                         MultiLockScenario,
                         testing::Values("redis", "redlock", "etcd", "zookeeper", "postgres"),
                         [](const auto& param) { return std::string{param.param}; });

TEST_P(MultiLockScenario, NobodyIsLeftWaiting) {
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
    MultiLockWorld crowd{seed, protocol_, Order::sorted};
    crowd.start();
    ASSERT_TRUE(crowd.finishes()) << "seed " << seed << ": " << crowd.done() << " done";
    ASSERT_EQ(crowd.overlaps(), 0) << "seed " << seed;
  }
}

TEST_P(MultiLockScenario, NobodyThatLivesIsLeftWaitingAfterFaults) {
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
    MultiLockWorld crowd{seed, protocol_, Order::sorted};
    crowd.start();
    crowd.trouble();
    ASSERT_TRUE(crowd.finishes()) << "seed " << seed << ": " << crowd.done() << " done";
    ASSERT_EQ(crowd.overlaps(), 0) << "seed " << seed;
  }
}

Task<void> take_three(SimLocks& locks, bool& done) {
  std::vector<std::string> names{"a", "b", "c"};
  const AcquireOptions options{.ttl = 10s};
  const std::stop_token never;
  const auto taken = co_await recipes::take_all(locks, std::move(names), options, never);
  done = taken.has_value();
}

TEST(MultiLockScenarioTest, WhileNobodyIsInTheWayItTakesOneRoundTrip) {
  RecipeWorld recipe_world{/*seed=*/1, *find_protocol("redis"), 10s};
  World& world = recipe_world.world();
  const ClientId alice = world.add_client("alice");
  world.set_faults({.delay_min = 100ms, .delay_max = 100ms});
  SimLocks locks{recipe_world, alice};
  bool done = false;
  const TimePoint before = world.now();
  world.client(alice).env().spawn(take_three(locks, done));
  ASSERT_TRUE(world.scheduler().run_until([&] { return done; }, 10s));
  EXPECT_EQ(world.now() - before, 200ms);
}

// What the order is for: the same world without it stands still before long, for ever, because
// sessions keep alive what they hold.
TEST_P(MultiLockScenario, InTheOrderDrawnTheyWaitInACircle) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    MultiLockWorld crowd{seed, protocol_, Order::as_drawn};
    crowd.start();
    if (!crowd.finishes()) return;
  }
  ADD_FAILURE() << "nobody was stuck";
}

}  // namespace
}  // namespace holdfast::sim
