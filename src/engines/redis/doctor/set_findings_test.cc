#include "engines/redis/doctor/set_findings.h"

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

using core::Severity;
using namespace std::chrono_literals;

ExaminedNode node(const std::string& name) {
  NodeFacts facts{.node = name, .prefix = "hf:", .path = {.stays_here = true}};
  facts.info = {{"role", "master"}, {"redis_version", "7.0.15"}, {"run_id", "run of " + name}};
  facts.config = {{"appendonly", "yes"}, {"appendfsync", "always"}};
  facts.fingerprint = "set 1";
  return {.node = name, .facts = std::move(facts)};
}

std::vector<ExaminedNode> three() { return {node("a"), node("b"), node("c")}; }

core::Finding only(const std::vector<ExaminedNode>& nodes) {
  const core::Findings found = findings_of_set(nodes);
  EXPECT_EQ(found.size(), 1U);
  return found.empty() ? core::Finding{} : found.front();
}

ExaminedNode down(const std::string& name) {
  return {.node = name, .facts = Unexpected{Error{Errc::unavailable, "refused"}}};
}

TEST(SetFindingsTest, NothingIsWrongWithAGoodSet) { EXPECT_TRUE(findings_of_set(three()).empty()); }

TEST(SetFindingsTest, ANodeThatIsDownIsADangerWithoutAMajority) {
  auto nodes = three();
  nodes[1] = down("b");
  EXPECT_EQ(only(nodes).id, "unreachable");
  EXPECT_EQ(only(nodes).severity, Severity::warning);
  nodes[2] = down("c");
  const auto found = findings_of_set(nodes);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].severity, Severity::danger);
  EXPECT_NE(found[0].message.find("refused"), std::string::npos);
}

TEST(SetFindingsTest, HalfOfAnEvenNumberIsNoMajority) {
  std::vector<ExaminedNode> nodes{node("a"), down("b")};
  EXPECT_EQ(only(nodes).severity, Severity::danger);
}

TEST(SetFindingsTest, TwoAddressesOfOneServerAreFound) {
  auto nodes = three();
  nodes[2].facts->info["run_id"] = "run of a";
  EXPECT_EQ(only(nodes).id, "same_server");
  EXPECT_NE(only(nodes).message.find("a and c"), std::string::npos);
}

TEST(SetFindingsTest, ANodeWithoutFingerprintIsNotPartOfTheSet) {
  auto nodes = three();
  nodes[0].facts->fingerprint.reset();
  EXPECT_EQ(only(nodes).id, "not_initialised");
  EXPECT_EQ(only(nodes).severity, Severity::danger);
}

TEST(SetFindingsTest, NodesOfDifferentSetsDisagree) {
  auto nodes = three();
  nodes[2].facts->fingerprint = "set 2";
  EXPECT_EQ(only(nodes).id, "sets_differ");
  EXPECT_NE(only(nodes).message.find("c belongs to another set than a"), std::string::npos);
}

TEST(SetFindingsTest, ClocksOfNodesAreComparedWithinWhatIsKnown) {
  auto nodes = three();
  nodes[0].facts->clock_ahead = -400ms;
  nodes[2].facts->clock_ahead = 400ms;
  EXPECT_EQ(only(nodes).id, "clocks_apart");
  EXPECT_NE(only(nodes).message.find("800 ms"), std::string::npos);
  nodes[0].facts->clock_error = nodes[2].facts->clock_error = 200ms;
  EXPECT_TRUE(findings_of_set(nodes).empty());
}

TEST(SetFindingsTest, EachNodeIsLookedAtToo) {
  auto nodes = three();
  nodes[1].facts->config["appendonly"] = "no";
  EXPECT_EQ(only(nodes).id, "no_persistence");
  EXPECT_EQ(only(nodes).severity, Severity::warning);
}

}  // namespace
}  // namespace holdfast::redis
