// Redlock with tokens, in a world of several nodes: scripted stories, and a small storm of seeds.

#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "engines/redlock/redlock_engine.h"
#include "sim/network.h"
#include "sim/redis_node.h"
#include "sim/sim_env.h"
#include "sim/sim_redis_port.h"
#include "sim/trace.h"

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;
using redlock::RedlockEngine;
using Granted = Result<redis::Grant, AcquireError>;

/// One client, with a link of its own to each node.
struct RedlockClient {
  RedlockClient(Scheduler& scheduler,
                Network& network,
                std::vector<std::unique_ptr<RedisNode>>& nodes,
                std::uint64_t seed)
      : env{scheduler, seed}, links(nodes.size()) {
    std::vector<std::shared_ptr<redis::RedisPort>> ports;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      ports.push_back(std::make_shared<SimRedisPort>(env, network, *nodes[i], links[i]));
    }
    engine = std::make_shared<RedlockEngine>(env, std::move(ports), redlock::Settings{});
  }

  SimEnv env;
  std::vector<Link> links;
  std::shared_ptr<RedlockEngine> engine;
};

Task<void> acquire_into(RedlockClient& client,
                        Owner owner,
                        Millis ttl,
                        std::optional<Granted>& to) {
  const LockName name{"ledger"};
  auto granted = co_await client.engine->try_acquire(name, owner, ttl);
  to.emplace(std::move(granted));
}

Task<void> release_into(RedlockClient& client,
                        core::HeldLease lease,
                        std::optional<ReleaseOutcome>& to) {
  const TimePoint answer_by = client.env.now() + std::chrono::seconds{1};
  to = co_await client.engine->release(std::move(lease), answer_by);
}

Task<void> renew_into(RedlockClient& client,
                      core::HeldLease lease,
                      Millis ttl,
                      std::optional<Result<std::vector<core::Fate>>>& to) {
  std::vector<core::HeldLease> leases{std::move(lease)};
  const TimePoint answer_by = client.env.now() + std::chrono::seconds{1};
  auto fates = co_await client.engine->renew(std::move(leases), ttl, answer_by);
  to.emplace(std::move(fates));
}

class Cluster {
 public:
  Cluster(std::uint64_t seed, std::size_t node_count, std::size_t client_count)
      : chance_{seed}, network_{scheduler_, chance_.draw()} {
    for (std::size_t i = 0; i < node_count; ++i) {
      nodes_.push_back(std::make_unique<RedisNode>(scheduler_, trace_));
    }
    for (std::size_t i = 0; i < client_count; ++i) {
      clients_.push_back(
          std::make_unique<RedlockClient>(scheduler_, network_, nodes_, chance_.draw()));
    }
  }
  ~Cluster() { scheduler_.clear(); }

  RedisNode& node(std::size_t index) { return *nodes_.at(index); }
  RedlockClient& client(std::size_t index) { return *clients_.at(index); }
  Scheduler& scheduler() { return scheduler_; }
  Network& network() { return network_; }
  Chance& chance() { return chance_; }

  Granted acquire(std::size_t index, Owner owner, Millis ttl = 10s) {
    std::optional<Granted> granted;
    client(index).env.spawn(acquire_into(client(index), owner, ttl, granted));
    EXPECT_TRUE(scheduler_.run_until([&] { return granted.has_value(); }, 1min));
    return std::move(*granted);
  }
  Granted acquire(std::size_t index, Millis ttl = 10s) {
    return acquire(index, client(index).env.fresh_owner(), ttl);
  }

  ReleaseOutcome release(std::size_t index, const Owner& owner, Token token) {
    std::optional<ReleaseOutcome> outcome;
    const core::HeldLease lease{.name = LockName{"ledger"}, .owner = owner, .token = token};
    client(index).env.spawn(release_into(client(index), lease, outcome));
    EXPECT_TRUE(scheduler_.run_until([&] { return outcome.has_value(); }, 1min));
    return *outcome;
  }

 private:
  Chance chance_;
  Trace trace_;
  Scheduler scheduler_;
  Network network_;
  std::vector<std::unique_ptr<RedisNode>> nodes_;
  std::vector<std::unique_ptr<RedlockClient>> clients_;
};

TEST(RedlockTest, TokensRiseFromHolderToHolder) {
  Cluster cluster{1, 5, 2};
  Token last{0};
  for (std::size_t round = 0; round < 6; ++round) {
    const Owner owner = cluster.client(round % 2).env.fresh_owner();
    const auto granted = cluster.acquire(round % 2, owner);
    ASSERT_TRUE(granted) << granted.error().message;
    EXPECT_GT(granted->token, last);
    last = granted->token;
    EXPECT_EQ(cluster.release(round % 2, owner, last), ReleaseOutcome::released);
  }
}

TEST(RedlockTest, NodesThatAgreeNeedOneRoundTrip) {
  Cluster cluster{2, 3, 1};
  ASSERT_TRUE(cluster.acquire(0));
  cluster.scheduler().advance(100ms);
  for (std::size_t node = 0; node < 3; ++node) {
    ASSERT_EQ(cluster.node(node).executions().size(), 1U);
    EXPECT_EQ(cluster.node(node).executions()[0].call.script->name, "redlock-take");
  }
}

TEST(RedlockTest, TwoOfFiveNodesMayBeDown) {
  Cluster cluster{3, 5, 2};
  cluster.node(1).stop();
  cluster.node(4).stop();
  ASSERT_TRUE(cluster.acquire(0));
  const auto refused = cluster.acquire(1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::busy);
  EXPECT_TRUE(refused.error().holder.has_value());
}

TEST(RedlockTest, ThreeOfFiveNodesDownIsUnavailableAndLeavesNothing) {
  Cluster cluster{4, 5, 1};
  for (const std::size_t node : {0, 1, 2}) cluster.node(node).stop();
  const auto refused = cluster.acquire(0);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::unavailable);
  EXPECT_EQ(refused.error().nodes.size(), 3U);
  cluster.scheduler().advance(1s);
  for (const std::size_t node : {3, 4}) {
    EXPECT_EQ(cluster.node(node).get("hf:ledger"), std::nullopt);
  }
}

// The nodes a holder was granted on and those the next one finds are never the same; the one they
// share carries the token over.
TEST(RedlockTest, TokensRiseAcrossMajoritiesThatShareOneNode) {
  Cluster cluster{5, 3, 2};
  Token last{0};
  for (int round = 0; round < 8; ++round) {
    const std::size_t down = round % 2 == 0 ? 2 : 0;
    cluster.node(down).stop();
    const Owner owner = cluster.client(0).env.fresh_owner();
    const auto granted = cluster.acquire(0, owner);
    ASSERT_TRUE(granted) << granted.error().message;
    EXPECT_GT(granted->token, last);
    last = granted->token;
    cluster.node(down).start(Data::kept);
    EXPECT_EQ(cluster.release(0, owner, last), ReleaseOutcome::released);
  }
}

TEST(RedlockTest, ALeaseIsGoneWhenAMajorityForgotIt) {
  Cluster cluster{6, 3, 1};
  const Owner owner = cluster.client(0).env.fresh_owner();
  const auto granted = cluster.acquire(0, owner);
  ASSERT_TRUE(granted);
  const core::HeldLease lease{.name = LockName{"ledger"}, .owner = owner, .token = granted->token};
  const auto renew = [&] {
    std::optional<Result<std::vector<core::Fate>>> fates;
    cluster.client(0).env.spawn(renew_into(cluster.client(0), lease, 10s, fates));
    EXPECT_TRUE(cluster.scheduler().run_until([&] { return fates.has_value(); }, 1min));
    return *fates;
  };
  EXPECT_EQ(renew().value(), std::vector{core::Fate::renewed});
  cluster.node(0).command({"DEL", "hf:ledger"});
  EXPECT_EQ(renew().value(), std::vector{core::Fate::renewed});
  cluster.node(1).stop();
  EXPECT_EQ(renew().error().code, Errc::unknown_outcome);
  cluster.node(1).start(Data::kept);
  cluster.node(1).command({"DEL", "hf:ledger"});
  EXPECT_EQ(renew().value(), std::vector{core::Fate::gone});
  EXPECT_EQ(cluster.node(0).get("hf:ledger"), std::nullopt) << "a renewal never brings it back";
}

/// Who completed when, and with what token.
struct Completed {
  TimePoint asked_at;
  TimePoint granted_at;
  Token token{0};
};

Task<void> hammer(Cluster& cluster, std::size_t index, Chance chance, std::vector<Completed>& log) {
  RedlockClient& client = cluster.client(index);
  for (int round = 0; round < 8; ++round) {
    co_await client.env.sleep_for(chance.between(0ms, 300ms));
    const Owner owner = client.env.fresh_owner();
    const LockName name{"ledger"};
    const TimePoint asked_at = cluster.scheduler().now();
    const auto granted = co_await client.engine->try_acquire(name, owner, 400ms);
    if (!granted) continue;
    log.push_back({asked_at, cluster.scheduler().now(), granted->token});
    co_await client.env.sleep_for(chance.between(0ms, 500ms));
    const core::HeldLease lease{.name = name, .owner = owner, .token = granted->token};
    const TimePoint answer_by = client.env.now() + 1s;
    co_await client.engine->release(lease, answer_by);
  }
}

/// Locks vanish, nodes restart, messages are lost and late; counters are kept.
void torment(Cluster& cluster, Chance chance) {
  NetworkFaults faults;
  faults.slow = PerMille{50};
  faults.slow_max = 1s;
  faults.lose_request = PerMille{30};
  faults.lose_reply = PerMille{30};
  cluster.network().set_faults(faults);
  for (int event = 0; event < 40; ++event) {
    const Duration when = chance.between(0ms, 6s);
    const std::size_t node = chance.below(3);
    const bool restart = chance.happens(PerMille{300});
    cluster.scheduler().after(when, [&cluster, node, restart] {
      cluster.node(node).command({"DEL", "hf:ledger"});
      if (!restart) return;
      cluster.node(node).stop();
      cluster.scheduler().after(200ms, [&cluster, node] { cluster.node(node).start(Data::kept); });
    });
  }
}

TEST(RedlockTest, TokensAreUniqueAndRiseInRealTimeWhateverHappens) {
  std::size_t completed = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Cluster cluster{seed, 3, 4};
    std::vector<Completed> log;
    torment(cluster, Chance{cluster.chance().draw()});
    for (std::size_t client = 0; client < 4; ++client) {
      const Chance chance{cluster.chance().draw()};
      cluster.client(client).env.spawn(hammer(cluster, client, chance, log));
    }
    cluster.scheduler().advance(30s);
    completed += log.size();
    for (const Completed& one : log) {
      for (const Completed& other : log) {
        if (&one == &other) continue;
        ASSERT_NE(one.token, other.token) << "seed " << seed;
        if (one.granted_at < other.asked_at) {
          ASSERT_LT(one.token, other.token) << "seed " << seed;
        }
      }
    }
  }
  EXPECT_GT(completed, 1000U);
}

}  // namespace
}  // namespace holdfast::sim
