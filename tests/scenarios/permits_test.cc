// Permits of one name, in worlds where messages are lost, processes pause and die: never are more
// of them held than there are, and whoever lives gets one in the end.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "tests/scenarios/sim_locks.h"

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kPermits = 2;
constexpr std::size_t kClients = 5;
constexpr int kRounds = 4;

class Crowd {
 public:
  Crowd(std::uint64_t seed, const Protocol& protocol)
      : world_{seed, protocol, std::max<Millis>(2s, protocol.ttl_min)}, chance_{~seed} {
    for (std::size_t i = 0; i < kClients; ++i) world().add_client("client" + std::to_string(i));
    for (std::size_t i = 0; i < kClients; ++i) {
      world().client({i}).env().spawn(work({i}, Chance{chance_.draw()}));
    }
  }

  /// How many permits were held at once.
  std::size_t most() const { return most_; }

  /// Somebody dies of it.
  void trouble() { dead_ = world_.trouble(chance_); }

  /// Whether everybody who lives gets a permit so many times from now on.
  bool goes_on() {
    rounds_.fill(0);
    if (dead_) rounds_[dead_->index] = kRounds;
    const auto done = [](int rounds) { return rounds >= kRounds; };
    return world().scheduler().run_until([&] { return std::ranges::all_of(rounds_, done); },
                                         200 * world_.ttl());
  }

 private:
  World& world() { return world_.world(); }

  Task<void> work(ClientId client, Chance chance) {
    SimEnv& env = world().client(client).env();
    SimLocks locks{world_, client};
    const AcquireOptions options{.mode = Mode::permit, .permits = kPermits, .ttl = world_.ttl()};
    for (;;) {
      co_await env.sleep_for(chance.between(Duration{0}, 200ms));
      std::vector<std::string> names{"slots"};
      std::vector<SimLocks::Lease> held;
      const std::stop_token never;
      auto taken = co_await locks.take_each(std::move(names), options, never, held);
      // The engine's own trouble. Ask again.
      if (!taken.front()) continue;
      SimLocks::Lease lease = *std::move(taken.front());
      inside_[client.index] = lease;
      count(locks);
      co_await env.sleep_for(chance.between(Duration{0}, 200ms));
      inside_[client.index].reset();
      co_await locks.release(lease);
      ++rounds_[client.index];
    }
  }

  void count(const SimLocks& locks) {
    const auto held = std::ranges::count_if(
        inside_, [&](const auto& lease) { return lease && locks.stands(*lease); });
    most_ = std::max(most_, static_cast<std::size_t>(held));
  }

  RecipeWorld world_;
  Chance chance_;
  std::size_t most_{0};
  std::optional<ClientId> dead_;
  std::array<int, kClients> rounds_{};
  std::array<std::optional<SimLocks::Lease>, kClients> inside_;
};

std::uint64_t seeds() {
  const char* asked = std::getenv("HOLDFAST_SEEDS");
  return asked == nullptr ? 150 : std::strtoull(asked, nullptr, 10);
}

/// Redlock has no permits.
class PermitScenario : public testing::TestWithParam<const char*> {
 protected:
  const Protocol& protocol_ = *find_protocol(GetParam());
};
INSTANTIATE_TEST_SUITE_P(Protocol,
                         PermitScenario,
                         testing::Values("redis", "etcd", "zookeeper", "postgres"),
                         [](const auto& param) { return std::string{param.param}; });

TEST_P(PermitScenario, AllPermitsAreUsedAndNoMore) {
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
    Crowd crowd{seed, protocol_};
    ASSERT_TRUE(crowd.goes_on()) << "seed " << seed;
    ASSERT_EQ(crowd.most(), kPermits) << "seed " << seed;
  }
}

TEST_P(PermitScenario, NoMoreAreUsedWhateverIsLostPausedOrKilled) {
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
    Crowd crowd{seed, protocol_};
    crowd.trouble();
    ASSERT_TRUE(crowd.goes_on()) << "seed " << seed;
    ASSERT_LE(crowd.most(), kPermits) << "seed " << seed;
  }
}

}  // namespace
}  // namespace holdfast::sim
