#include "engines/redlock/node_set.h"

#include <gtest/gtest.h>

namespace holdfast::redlock {
namespace {

using namespace std::chrono_literals;

const NodeSet kSet{.id = "ab12", .nodes = 3, .epoch = 2, .longest_ttl = 10s};

NodeView member(const std::string& name, const NodeSet& set) {
  return {.name = name, .answer = Membership{.set = set, .member = "of " + name}};
}
NodeView stranger(const std::string& name) { return {.name = name, .answer = Membership{}}; }
NodeView down(const std::string& name) {
  return {.name = name, .answer = Unexpected{Error{Errc::unavailable, "connection refused"}}};
}

TEST(NodeSetTest, FingerprintsComeBack) {
  EXPECT_EQ(kSet.text(), "ab12 3 2 10000");
  EXPECT_EQ(NodeSet::parse(kSet.text()), kSet);
  for (const char* const text :
       {"", "ab12", "ab12 3 2", "ab12 3 2 x", "ab12 3 2 10000 9", " 3 2 1"}) {
    EXPECT_EQ(NodeSet::parse(text), std::nullopt) << text;
  }
}

TEST(NodeSetTest, AMajorityDecidesBeforeTheRestHasAnswered) {
  EXPECT_FALSE(agreed_set({member("a", kSet), {.name = "b"}, {.name = "c"}}));
  const auto agreed = agreed_set({member("a", kSet), member("b", kSet), {.name = "c"}});
  ASSERT_TRUE(agreed);
  EXPECT_EQ(**agreed, kSet);
}

TEST(NodeSetTest, NodesWithoutASetAreNoMajority) {
  const auto agreed = agreed_set({member("a", kSet), stranger("b"), stranger("c")});
  ASSERT_TRUE(agreed);
  ASSERT_FALSE(*agreed);
  EXPECT_EQ(agreed->error().code, Errc::unavailable);
  ASSERT_EQ(agreed->error().nodes.size(), 3U);
  EXPECT_NE(agreed->error().nodes[1].message.find("no set"), std::string::npos);
}

TEST(NodeSetTest, TooFewNodesAreToldFromNodesOfAnotherSet) {
  const auto agreed = agreed_set({member("a", kSet), down("b"), down("c")});
  ASSERT_TRUE(agreed);
  ASSERT_FALSE(*agreed);
  EXPECT_NE(agreed->error().message.find("answered"), std::string::npos);
  EXPECT_EQ(agreed->error().nodes[2].message, "connection refused");
}

TEST(NodeSetTest, ASetOfAnotherSizeIsRefused) {
  NodeSet five = kSet;
  five.nodes = 5;
  const auto agreed = agreed_set({member("a", five), member("b", five), member("c", five)});
  ASSERT_TRUE(agreed);
  ASSERT_FALSE(*agreed);
  EXPECT_EQ(agreed->error().code, Errc::invalid_argument);
  EXPECT_NE(agreed->error().message.find("3 nodes"), std::string::npos);
}

TEST(NodeSetTest, TwoAddressesOfOneNodeAreRefused) {
  NodeView alias = member("a", kSet);
  alias.name = "b";
  const auto agreed = agreed_set({member("a", kSet), alias, member("c", kSet)});
  ASSERT_TRUE(agreed);
  ASSERT_FALSE(*agreed);
  EXPECT_EQ(agreed->error().message, "a and b are one and the same node");
}

TEST(NodeSetTest, KeysOfLocksAreToldFromOthers) {
  const Keys keys{"hf:", kSet};
  EXPECT_EQ(keys.lock_of("hf:x"), LockName{"x"});
  EXPECT_EQ(keys.lock_of(keys.waiters(LockName{"x"})), LockName{"x"});
  for (const std::string& key :
       {keys.high(), keys.counter(LockName{"x"}), keys.broken(LockName{"x"}), std::string{"hf:"}}) {
    EXPECT_EQ(keys.lock_of(key), std::nullopt) << key;
  }
}

}  // namespace
}  // namespace holdfast::redlock
