// Rate limits of processes that share a key, in worlds where messages are lost, processes pause,
// die and come back, and clocks are wrong: over no time is more used than docs/guide/rate_limits.md
// promises, and when the world has healed, the rate is to be had again.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "core/leased_limits.h"
#include "core/limit_excess_testing.h"
#include "engines/etcd/store/etcd_limits.h"
#include "engines/redis/limit_script.h"
#include "engines/redis/redis_limits.h"
#include "engines/zookeeper/store/zookeeper_limits.h"
#include "sim/protocol.h"
#include "sim/world/world.h"

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;
using core::Take;

constexpr std::size_t kHosts = 4;
constexpr std::size_t kCallers = 3;
constexpr int kStrikes = 15;
/// Between two calls of a caller at most. All of them together come to well above any rate here.
constexpr Duration kPause = 20ms;
constexpr Duration kPatience = 2s;
/// How wrong the wall clocks of hosts are.
constexpr Duration kSkewMax = 5s;
/// By how much those who ask a server for its time in a calm world may differ.
constexpr Duration kReading = 5ms;

/// Whose permits a process takes.
enum class Keys {
  shared,
  /// What it would be like if everybody counted for itself.
  own,
};

class Fleet {
 public:
  Fleet(std::uint64_t seed, const Protocol& protocol, Keys keys)
      : protocol_{protocol}, keys_{keys}, chance_{~seed}, world_{seed, options(protocol)} {
    const RateLimit limit{.rate = Rate::per_second(5 + chance_.below(150)),
                          .burst = 1 + chance_.below(20)};
    take_ = core::to_take(limit, {.wait = Millis{chance_.below(3) * 400}}).value();
    clocks_agree_ = seed % 2 == 0;
    if (protocol.servers == ServerKind::redis) count_at_server();
    for (std::size_t i = 0; i < kHosts; ++i) {
      skews_.at(i) = clocks_agree_ ? 0s : chance_.between(-kSkewMax, kSkewMax);
      beginning_ = {i};
      begin_calls(world_.add_client("host" + std::to_string(i)));
    }
  }

  /// Runs for so long.
  void advance(Duration time) { world_.advance(time); }

  /// Loses, delays and repeats messages, cuts hosts off, pauses, kills and restarts processes, sets
  /// a server's clock back; then heals.
  void trouble() {
    const bool repeats = protocol_.servers == ServerKind::redis;
    world_.set_faults({.slow_max = 1s,
                       .slow = {20},
                       .lose_request = {30},
                       .lose_reply = {30},
                       .repeat = {repeats ? 30U : 0U}});
    for (int i = 0; i < kStrikes; ++i) {
      strike({chance_.below(kHosts)});
      world_.advance(chance_.between(0s, 600ms));
    }
    for (std::size_t i = 0; i < kHosts; ++i) world_.resume({i});
    world_.network().mend_all();
    world_.set_faults({});
  }

  /// How much more was used over some time than the rate gives, in its time.
  Duration excess() const { return core::largest_excess(uses_, take_.interval); }

  /// How much more may be.
  Duration promised() const {
    // The script counts by the server's clock, which shows microseconds.
    if (protocol_.servers == ServerKind::redis) return take_.tolerance + 1us;
    const Duration burst = std::max(take_.tolerance, core::Purse::kSpan);
    return core::Purse::kLife + burst + kReading + leaps() * (burst + take_.wait);
  }

  /// Which share of what the rate gives is used within this time from now on.
  double share_used(Duration time) {
    const std::size_t before = uses_.size();
    advance(time);
    const auto used = static_cast<double>(uses_.size() - before);
    return used / (static_cast<double>(time.count()) / static_cast<double>(take_.interval.count()));
  }

 private:
  WorldOptions options(const Protocol& protocol) {
    WorldOptions options;
    options.engine = [this, make = protocol.make](Env& env, Ports ports) {
      desks_.push_back(desk(env, ports));
      return make(env, std::move(ports), {});
    };
    options.servers = protocol.servers;
    options.nodes = protocol.nodes;
    return options;
  }

  /// Of a process that begins.
  std::shared_ptr<core::LimitDesk> desk(Env& env, const Ports& ports) {
    std::shared_ptr<core::LimitBook> book;
    if (ports.etcd) {
      const auto wall = [this, host = beginning_.index] {
        return kWallEpoch + world_.now().time_since_epoch() + skews_.at(host);
      };
      book = std::make_shared<etcd::EtcdLimits>(env, ports.etcd, "hf/", wall);
    } else if (ports.zookeeper) {
      auto line = zookeeper::StoreLine::create(env, ports.zookeeper);
      book = std::make_shared<zookeeper::ZookeeperLimits>(env, std::move(line), "/hf");
    } else {
      return std::make_shared<redis::RedisLimits>(ports.redis.front(), "hf:");
    }
    return std::make_shared<core::LeasedLimits>(env, std::move(book));
  }

  void begin_calls(ClientId host) {
    SimEnv& env = world_.client(host).env();
    const std::string key = keys_ == Keys::shared ? "key" : "key" + std::to_string(host.index);
    for (std::size_t i = 0; i < kCallers; ++i) {
      env.spawn(calls(env, desks_.back(), key, Chance{chance_.draw()}));
    }
  }

  /// A caller that asks again and again, and does what it may.
  Task<void> calls(SimEnv& env,
                   std::shared_ptr<core::LimitDesk> desk,
                   std::string key,
                   Chance chance) {
    for (;;) {
      const auto decision = co_await desk->reserve(key, take_, env.now() + kPatience);
      const bool allowed = decision && decision->allowed;
      if (allowed && protocol_.servers != ServerKind::redis) {
        uses_.push_back(world_.now() + decision->delay);
      }
      const Duration delay = allowed ? decision->delay : Duration{0};
      co_await env.sleep_for(delay + chance.between(0s, kPause));
    }
  }

  /// What is granted there may come late or never, and is spent all the same.
  void count_at_server() {
    world_.node().observe([this](const ScriptRun& run) {
      if (run.call.script != &redis::kTakeScript || run.reply.items.size() != 2) return;
      if (run.reply.items[0].integer != 1) return;
      const Duration ahead{std::stoll(run.reply.items[1].text)};
      uses_.push_back(world_.now() + core::decide(take_, ahead).delay);
    });
  }

  /// How often a key may be taken ahead by somebody's clock, which brings it its burst back: once
  /// for each that is wrong.
  std::int64_t leaps() const {
    if (clocks_agree_) return 0;
    // It is the servers' clock there, as late as each process has heard of it.
    const bool each = protocol_.servers == ServerKind::zookeeper;
    return each ? std::ssize(desks_) - 1 : static_cast<std::int64_t>(kHosts) - 1;
  }

  void strike(ClientId host) {
    switch (chance_.below(6)) {
      case 0:
        return world_.pause(host);
      case 1:
        return world_.resume(host);
      case 2:
        return world_.cut_off(host);
      case 3:
        return world_.reconnect(host);
      case 4:
        return begin_anew(host);
      default:
        if (protocol_.servers == ServerKind::redis) {
          world_.servers().step_clock(0, -chance_.between(0s, kSkewMax));
        }
    }
  }

  void begin_anew(ClientId host) {
    // It would learn late what the servers' clock shows.
    if (clocks_agree_ && protocol_.servers == ServerKind::zookeeper) return;
    world_.kill(host);
    beginning_ = host;
    world_.restart(host);
    begin_calls(host);
  }

  const Protocol& protocol_;
  Keys keys_;
  Chance chance_;
  Take take_{};
  bool clocks_agree_{true};
  std::array<Duration, kHosts> skews_{};
  /// Which host the next process is of.
  ClientId beginning_{0};
  /// When permits were to be used, in true time.
  std::vector<TimePoint> uses_;
  World world_;
  /// Of every process that ever was. They go before the world.
  std::vector<std::shared_ptr<core::LimitDesk>> desks_;
};

std::uint64_t seeds() {
  const char* asked = std::getenv("HOLDFAST_SEEDS");
  return asked == nullptr ? 100 : std::strtoull(asked, nullptr, 10);
}

/// Redlock has no limits, and the model PostgreSQL not the function that has them.
class LimitScenario : public testing::TestWithParam<const char*> {
 protected:
  const Protocol& protocol_ = *find_protocol(GetParam());
};
INSTANTIATE_TEST_SUITE_P(Protocol,
                         LimitScenario,
                         testing::Values("redis", "etcd", "zookeeper"),
                         [](const auto& param) { return std::string{param.param}; });

TEST_P(LimitScenario, OverNoTimeIsMoreUsedThanPromisedAndAfterFaultsTheRateIsThereAgain) {
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
    Fleet fleet{seed, protocol_, Keys::shared};
    fleet.advance(1s);
    fleet.trouble();
    // Sessions are opened anew, and what was reserved in vain is over.
    fleet.advance(5s);
    EXPECT_GE(fleet.share_used(5s), 0.8) << "seed " << seed;
    ASSERT_LE(fleet.excess(), fleet.promised()) << "seed " << seed;
  }
}

// What the shared key is for.
TEST_P(LimitScenario, WhereEverybodyCountsForItselfMoreIsUsed) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Fleet fleet{seed, protocol_, Keys::own};
    fleet.advance(10s);
    if (fleet.excess() > fleet.promised()) return;
  }
  ADD_FAILURE() << "nobody used more";
}

}  // namespace
}  // namespace holdfast::sim
