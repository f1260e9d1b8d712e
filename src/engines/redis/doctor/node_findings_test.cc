#include "engines/redis/doctor/node_findings.h"

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

using core::Findings;
using core::Severity;
using namespace std::chrono_literals;

NodeFacts good() {
  NodeFacts facts{.node = "here:1",
                  .prefix = "hf:",
                  .path = {.stays_here = true, .encrypted = false, .authenticated = false}};
  facts.info = {{"role", "master"}, {"redis_version", "7.0.15"}, {"connected_slaves", "0"}};
  facts.config = {{"appendonly", "yes"},
                  {"appendfsync", "always"},
                  {"no-appendfsync-on-rewrite", "no"},
                  {"save", ""},
                  {"maxmemory", "0"},
                  {"maxmemory-policy", "noeviction"},
                  {"timeout", "0"},
                  {"tcp-keepalive", "300"}};
  facts.hears_messages = true;
  facts.round_trip = 200us;
  facts.clock_error = 1ms;
  return facts;
}

/// The one thing wrong with it.
core::Finding only(const NodeFacts& facts, Trust trust = Trust::itself) {
  Findings found = findings_of(facts, trust);
  EXPECT_EQ(found.size(), 1U);
  return found.empty() ? core::Finding{} : found.front();
}

void expect(const core::Finding& finding, const std::string& id, Severity severity) {
  EXPECT_EQ(finding.id, id);
  EXPECT_EQ(finding.severity, severity);
  EXPECT_FALSE(finding.message.empty());
  EXPECT_FALSE(finding.fix.empty());
}

TEST(NodeFindingsTest, NothingIsWrongWithAGoodServer) {
  EXPECT_TRUE(findings_of(good(), Trust::itself).empty());
  EXPECT_TRUE(findings_of(good(), Trust::majority).empty());
}

TEST(NodeFindingsTest, WithoutPersistenceARestartForgetsLocks) {
  NodeFacts facts = good();
  facts.config["appendonly"] = "no";
  expect(only(facts), "no_persistence", Severity::danger);
  EXPECT_NE(only(facts).fix.find("CONFIG SET appendonly yes"), std::string::npos);
  expect(only(facts, Trust::majority), "no_persistence", Severity::warning);
  facts.config["save"] = "3600 1";
  expect(only(facts), "snapshots_only", Severity::danger);
}

TEST(NodeFindingsTest, SyncingLaterThanAnsweringLosesTheLastLocks) {
  NodeFacts facts = good();
  facts.config["appendfsync"] = "everysec";
  expect(only(facts), "fsync_not_always", Severity::warning);
  EXPECT_EQ(only(facts).fix, "CONFIG SET appendfsync always");
  facts = good();
  facts.config["no-appendfsync-on-rewrite"] = "yes";
  expect(only(facts), "fsync_pauses", Severity::warning);
}

TEST(NodeFindingsTest, ADiskThatFailedIsADanger) {
  NodeFacts facts = good();
  facts.info["aof_last_write_status"] = "err";
  expect(only(facts), "disk_failed", Severity::danger);
}

TEST(NodeFindingsTest, EvictionThrowsLocksAway) {
  NodeFacts facts = good();
  facts.config["maxmemory-policy"] = "allkeys-lru";
  expect(only(facts), "eviction", Severity::warning);
  facts.config["maxmemory"] = "1000000";
  facts.info["evicted_keys"] = "12";
  expect(only(facts), "eviction", Severity::danger);
  EXPECT_NE(only(facts).message.find("12 keys"), std::string::npos);
}

TEST(NodeFindingsTest, MemoryThatRunsOutIsToldBefore) {
  NodeFacts facts = good();
  facts.config["maxmemory"] = "1000";
  facts.info["used_memory"] = "899";
  EXPECT_TRUE(memory_findings(facts).empty());
  facts.info["used_memory"] = "901";
  expect(only(facts), "memory_short", Severity::warning);
}

TEST(NodeFindingsTest, ReplicasMayTakeOverWithoutTheLastLocks) {
  NodeFacts facts = good();
  facts.info["connected_slaves"] = "1";
  expect(only(facts), "failover_loses_locks", Severity::danger);
  facts.config["min-replicas-to-write"] = "1";
  expect(only(facts), "failover_window", Severity::warning);
}

TEST(NodeFindingsTest, AReplicaTakesNoLocks) {
  NodeFacts facts = good();
  facts.info["role"] = "slave";
  facts.info["master_host"] = "10.0.0.1";
  facts.info["master_port"] = "6379";
  expect(only(facts), "replica", Severity::danger);
  EXPECT_NE(only(facts).fix.find("10.0.0.1:6379"), std::string::npos);
}

TEST(NodeFindingsTest, WhatTheUserMayNotDoHasTheRuleThatLetsIt) {
  NodeFacts facts = good();
  facts.user = "app";
  facts.refusals = {{"lpop", "NOPERM this user has no permissions to run the 'lpop' command"}};
  expect(only(facts), "denied_lpop", Severity::danger);
  EXPECT_EQ(only(facts).fix, "ACL SETUSER app +lpop");
  facts.refusals = {{"set", "NOPERM this user has no permissions to access one of the keys"}};
  EXPECT_EQ(only(facts).fix, "ACL SETUSER app ~hf:* ~{hf:*");
  facts.refusals = {
      {"publish", "NOPERM this user has no permissions to access one of the channels"}};
  EXPECT_EQ(only(facts).fix, "ACL SETUSER app &hf:*");
}

TEST(NodeFindingsTest, UnheardMessagesMakeWaitersLate) {
  NodeFacts facts = good();
  facts.hears_messages = false;
  expect(only(facts), "no_messages", Severity::warning);
  facts.hears_messages.reset();
  EXPECT_TRUE(findings_of(facts, Trust::itself).empty());
}

TEST(NodeFindingsTest, WhatCouldNotBeReadIsSaid) {
  NodeFacts facts = good();
  facts.config.clear();
  expect(only(facts), "not_examined", Severity::warning);
  EXPECT_NE(only(facts).message.find("by CONFIG GET"), std::string::npos);
}

TEST(NodeFindingsTest, OnlyTheWayThroughANetworkIsToBeEncryptedAndLocked) {
  NodeFacts facts = good();
  facts.path.stays_here = false;
  facts.path.authenticated = true;
  expect(only(facts), "not_encrypted", Severity::warning);
  facts.path = {.stays_here = false, .encrypted = true, .authenticated = false};
  expect(only(facts), "no_password", Severity::warning);
}

TEST(NodeFindingsTest, ASlowServerNeedsLongLeases) {
  NodeFacts facts = good();
  facts.round_trip = 80ms;
  expect(only(facts), "slow", Severity::warning);
  EXPECT_NE(only(facts).fix.find("at least 8 s"), std::string::npos);
}

TEST(NodeFindingsTest, ConnectionsAreNeitherCutNorKeptForEver) {
  NodeFacts facts = good();
  facts.config["timeout"] = "30";
  expect(only(facts), "cuts_idle_connections", Severity::warning);
  facts = good();
  facts.config["tcp-keepalive"] = "0";
  expect(only(facts), "no_keepalive", Severity::warning);
}

TEST(NodeFindingsTest, ClocksAreComparedWithinWhatTheRoundTripAllows) {
  NodeFacts facts = good();
  facts.clock_ahead = 1500ms;
  facts.clock_error = 600ms;
  EXPECT_TRUE(findings_of(facts, Trust::itself).empty());
  facts.clock_error = 100ms;
  expect(only(facts), "clock_apart", Severity::warning);
  EXPECT_NE(only(facts).message.find("1400.0 ms ahead"), std::string::npos);
  facts.clock_ahead = -1500ms;
  EXPECT_NE(only(facts).message.find("1400.0 ms behind"), std::string::npos);
}

TEST(NodeFindingsTest, OldServersAreTold) {
  NodeFacts facts = good();
  facts.info["redis_version"] = "6.2.0";
  EXPECT_TRUE(findings_of(facts, Trust::itself).empty());
  facts.info["redis_version"] = "6.0.16";
  expect(only(facts), "version_old", Severity::warning);
  facts.info["redis_version"] = "4.0.1";
  expect(only(facts), "version_old", Severity::danger);
}

TEST(ReadInfoTest, ReadsLinesAndNothingElse) {
  const auto info = read_info("# Server\r\nredis_version:7.0.15\r\n\r\nexecutable:/a:b\r\nodd\r\n");
  EXPECT_EQ(info.size(), 2U);
  EXPECT_EQ(info.at("redis_version"), "7.0.15");
  EXPECT_EQ(info.at("executable"), "/a:b");
}

}  // namespace
}  // namespace holdfast::redis
