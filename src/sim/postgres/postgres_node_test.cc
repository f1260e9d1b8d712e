#include "sim/postgres/postgres_node.h"

#include <gtest/gtest.h>

#include "base/decimal.h"
#include "engines/postgres/lease_statements.h"

namespace holdfast::sim {
namespace {

using namespace postgres;
using namespace std::chrono_literals;

class PostgresNodeTest : public testing::Test {
 protected:
  std::uint64_t take(const char* name, const char* owner) {
    const Answer answer =
        node_.run({.statement = &kAcquireStatement,
                   .args = {name, owner, "1000", "", "x", "0", std::nullopt, "f"}});
    const Row row = std::get<Rows>(answer).at(0);
    return row.at(0) == "granted" ? parse_decimal<std::uint64_t>(*row.at(1)).value() : 0;
  }

  Scheduler scheduler_;
  PostgresNode node_{scheduler_};
};

TEST_F(PostgresNodeTest, ARestartKeepsLeasesAndSkipsNumbers) {
  const std::uint64_t first = take("a", "one");
  node_.stop();
  node_.start();
  EXPECT_EQ(take("a", "one"), first);
  EXPECT_GT(take("b", "one"), first + 1);
}

TEST_F(PostgresNodeTest, APromotionLosesWhatTheReplicaLackedAndItsTokensRise) {
  take("a", "one");
  node_.replicate();
  std::uint64_t last = 0;
  for (int i = 0; i < 100; ++i) last = take(("n" + std::to_string(i)).c_str(), "one");
  node_.promote_replica();
  EXPECT_EQ(take("a", "two"), 0U);
  EXPECT_GT(take("n0", "two"), last);
  EXPECT_EQ(node_.era(), 1U);
}

TEST_F(PostgresNodeTest, LeasesEndByItsOwnClock) {
  take("a", "one");
  EXPECT_EQ(take("a", "two"), 0U);
  node_.step_clock(1001ms);
  EXPECT_NE(take("a", "two"), 0U);
}

TEST_F(PostgresNodeTest, RefusesWhatItDoesNotKnow) {
  static constexpr Statement kUnknown{"unknown", "SELECT unknown()"};
  const Answer unknown = node_.run({.statement = &kUnknown, .args = {}});
  EXPECT_EQ(std::get<Refusal>(unknown).sqlstate, "42883");
  const Answer odd = node_.run({.statement = &kExtendStatement, .args = {"a", "b", "soon"}});
  EXPECT_EQ(std::get<Refusal>(odd).sqlstate, "22P02");
}

}  // namespace
}  // namespace holdfast::sim
