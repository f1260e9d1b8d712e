// Defects of other Redlock libraries, as docs/internals/peer_defects.md numbers them.

#include <future>
#include <memory>
#include <vector>

#include "client/redlock_admin.h"
#include "core/session_backend.h"
#include "tests/regressions/redis_bed.h"

namespace holdfast::regressions {
namespace {

class RedlockRegression : public testing::Test {
 protected:
  void found(std::size_t count) {
    url_ = "redlock+unix://";
    for (std::size_t i = 0; i < count; ++i) {
      nodes_.push_back(std::make_unique<ports::RedisProcess>());
      raw_.push_back(std::make_unique<RawRedis>(nodes_.back()->socket()));
      url_ += (i == 0 ? "" : ",") + nodes_.back()->socket();
    }
    ASSERT_TRUE(found_redlock(url_, {.longest_ttl = 60s}, nullptr, {}));
  }
  static constexpr Millis kTimeout{3'000};
  Client connect() { return *Client::connect(url_ + "?timeout=3s"); }
  /// On how many nodes the key is.
  std::size_t spread(const std::string& key) {
    std::size_t there = 0;
    for (const auto& raw : raw_) there += raw->ask({"EXISTS", key}) == "1" ? 1 : 0;
    return there;
  }
  void take_elsewhere(std::size_t node) {
    raw_[node]->ask({"SET", "hf:x", "theirs", "PX", "60000"});
  }

  std::vector<std::unique_ptr<ports::RedisProcess>> nodes_;
  std::vector<std::unique_ptr<RawRedis>> raw_;
  std::string url_;
};

TEST_F(RedlockRegression, D1_OneDeadNodeBreaksNothing) {
  found(3);
  Client client = connect();
  nodes_[0]->kill();
  auto lease = client.acquire("x");
  ASSERT_TRUE(lease) << lease.error().message;
  EXPECT_TRUE(lease->renew());
  EXPECT_EQ(lease->release(), ReleaseOutcome::released);
  EXPECT_EQ(raw_[1]->ask({"EXISTS", "hf:x"}), "0");
  EXPECT_EQ(raw_[2]->ask({"EXISTS", "hf:x"}), "0") << "all that live, not up to the first dead one";
}

TEST_F(RedlockRegression, D3_AFailedAttemptLeavesNothingOnAnyNode) {
  found(3);
  Client client = connect();
  take_elsewhere(0);
  take_elsewhere(1);
  const auto refused = client.try_acquire("x", {.ttl = 60s});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::busy);
  EXPECT_TRUE(eventually([&] { return raw_[2]->ask({"EXISTS", "hf:x"}) == "0"; }));
  EXPECT_EQ(spread("hf:x"), 2U) << "theirs stay";
}

TEST_F(RedlockRegression, D4_NodesAreAskedTogetherAndTheSlowDelayNobody) {
  found(5);
  Client client = connect();
  ASSERT_TRUE(client.acquire("x"));
  nodes_[0]->pause();
  nodes_[1]->pause();
  const TimePoint begin = BootClock::now();
  const auto lease = client.acquire("x", {.ttl = 20s});
  const Duration took = BootClock::now() - begin;
  ASSERT_TRUE(lease) << lease.error().message;
  // Whoever asks one node after the other waits for two that hang.
  EXPECT_LT(took, 2 * core::attempt_timeout(kTimeout));
  nodes_[0]->resume();
  nodes_[1]->resume();
}

TEST_F(RedlockRegression, D14_ATieEnds) {
  found(4);
  Client client = connect();
  take_elsewhere(0);
  take_elsewhere(1);
  const auto refused = client.try_acquire("x");
  ASSERT_FALSE(refused) << "two to two is no majority for anybody";
  EXPECT_EQ(refused.error().code, Errc::busy);
  EXPECT_TRUE(eventually([&] { return spread("hf:x") == 2; }));
}

TEST_F(RedlockRegression, D14_TwoWhoTieBothComeToTheirTurn) {
  found(4);
  Client one = connect();
  Client other = connect();
  for (int round = 0; round < 20; ++round) {
    const auto turn = [](Client& client) {
      return client.acquire("x", {.wait = kBound}).has_value();
    };
    auto first = std::async(std::launch::async, [&] { return turn(one); });
    EXPECT_TRUE(turn(other)) << round;
    EXPECT_TRUE(first.get()) << round;
  }
}

TEST_F(RedlockRegression, Item20_ANodeThatCameBackHasTheLockAgain) {
  found(3);
  Client client = connect();
  auto lease = client.acquire("x", {.ttl = 3s});
  ASSERT_TRUE(lease);
  raw_[2]->ask({"DEL", "hf:x"});
  EXPECT_TRUE(eventually([&] { return spread("hf:x") == 3; })) << "renewal completes it";
  EXPECT_TRUE(lease->ensure_held());
}

TEST_F(RedlockRegression, Item20_WithoutAMajorityNothingIsRepaired) {
  found(3);
  Client client = connect();
  auto lease = client.acquire("x", {.ttl = 3s});
  ASSERT_TRUE(lease);
  raw_[1]->ask({"DEL", "hf:x"});
  raw_[2]->ask({"DEL", "hf:x"});
  EXPECT_TRUE(eventually([&] { return lease->state() == LeaseState::lost; }));
  EXPECT_EQ(raw_[1]->ask({"EXISTS", "hf:x"}), "0");
  EXPECT_EQ(raw_[2]->ask({"EXISTS", "hf:x"}), "0");
}

TEST_F(RedlockRegression, Item21_EveryNodeHasItsVerdict) {
  found(3);
  Client client = connect();
  nodes_[0]->kill();
  take_elsewhere(1);
  const auto held = client.try_acquire("x");
  ASSERT_FALSE(held);
  nodes_[1]->kill();
  const auto broken = client.try_acquire("x");
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, Errc::unavailable);
  ASSERT_EQ(broken.error().nodes.size(), 2U) << "each that failed, with its reason";
  EXPECT_NE(broken.error().nodes[0].node.find(nodes_[0]->socket()), std::string::npos);
  EXPECT_FALSE(broken.error().nodes[0].message.empty());
}

}  // namespace
}  // namespace holdfast::regressions
