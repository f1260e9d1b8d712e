#include "engines/postgres/doctor/server_findings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "engines/postgres/schema/schema.h"

namespace holdfast::postgres {
namespace {

using Ids = std::set<std::string>;

/// Of a server that is set up as it should be.
ServerFacts good() {
  ServerFacts facts;
  facts.server = "db:5432";
  facts.role = "app";
  facts.encrypted = true;
  facts.schema = SchemaState::usable;
  facts.schema_version = kSchemaVersion;
  facts.settings = {{"fsync", "on"},
                    {"full_page_writes", "on"},
                    {"synchronous_commit", "on"},
                    {"synchronous_standby_names", ""},
                    {"autovacuum", "on"},
                    {"max_connections", "100"},
                    {"server_version", "15.4"},
                    {"server_version_num", "150004"},
                    {"idle_session_timeout", "0"},
                    {"idle_in_transaction_session_timeout", "300000"},
                    {"tcp_keepalives_idle", "60"},
                    {"tcp_user_timeout", "0"},
                    {"default_transaction_isolation", "read committed"},
                    {"default_transaction_read_only", "off"},
                    {"lock_timeout", "30000"},
                    {"statement_timeout", "0"}};
  return facts;
}

Ids ids(const ServerFacts& facts) {
  Ids all;
  for (const core::Finding& finding : findings_of(facts)) all.insert(finding.id);
  return all;
}

Ids with_setting(const std::string& name, const std::string& value) {
  ServerFacts facts = good();
  facts.settings[name] = value;
  return ids(facts);
}

TEST(PostgresFindingsTest, NothingIsWrongWithAGoodServer) { EXPECT_EQ(ids(good()), Ids{}); }

TEST(PostgresFindingsTest, EverySettingThatHarmsIsNamed) {
  EXPECT_EQ(with_setting("fsync", "off"), Ids{"no_fsync"});
  EXPECT_EQ(with_setting("full_page_writes", "off"), Ids{"no_full_page_writes"});
  EXPECT_EQ(with_setting("synchronous_commit", "off"), Ids{"synchronous_commit"});
  EXPECT_EQ(with_setting("autovacuum", "off"), Ids{"no_autovacuum"});
  EXPECT_EQ(with_setting("server_version_num", "130009"), Ids{"old_server"});
  EXPECT_EQ(with_setting("statement_timeout", "200"), Ids{"short_statement_timeout"});
  EXPECT_EQ(with_setting("lock_timeout", "200"), Ids{"short_lock_timeout"});
  EXPECT_EQ(with_setting("default_transaction_isolation", "serializable"), Ids{"isolation"});
  EXPECT_EQ(with_setting("idle_in_transaction_session_timeout", "0"),
            Ids{"no_idle_in_transaction_timeout"});
  EXPECT_EQ(with_setting("tcp_keepalives_idle", "7200"), Ids{"no_keepalive"});
  EXPECT_EQ(with_setting("default_transaction_read_only", "on"), Ids{"read_only"});
}

TEST(PostgresFindingsTest, WhatLosesLocksIsADanger) {
  for (const auto& [name, value] : {std::pair{"fsync", "off"}, {"full_page_writes", "off"}}) {
    ServerFacts facts = good();
    facts.settings[name] = value;
    EXPECT_FALSE(core::is_safe(findings_of(facts))) << name;
  }
}

TEST(PostgresFindingsTest, AFailoverMustNotForget) {
  ServerFacts facts = good();
  facts.replicas = 1;
  EXPECT_EQ(ids(facts), Ids{"failover_window"});
  facts.settings["synchronous_standby_names"] = "ANY 1 (*)";
  EXPECT_EQ(ids(facts), Ids{});
  facts.settings["synchronous_commit"] = "local";
  EXPECT_EQ(ids(facts), Ids{"failover_window"});
  facts.settings["synchronous_commit"] = "on";
  facts.usage = Usage::advisory;
  EXPECT_EQ(ids(facts), Ids{"failover_loses_locks"});
}

TEST(PostgresFindingsTest, APoolerIsADangerToAdvisoryLocksAlone) {
  ServerFacts facts = good();
  facts.pooled = true;
  EXPECT_EQ(ids(facts), Ids{"no_listen"});
  EXPECT_TRUE(core::is_safe(findings_of(facts)));
  facts.usage = Usage::advisory;
  EXPECT_EQ(ids(facts), Ids{"pooler"});
  EXPECT_FALSE(core::is_safe(findings_of(facts)));
}

TEST(PostgresFindingsTest, AReplicaTakesNoLocks) {
  ServerFacts facts = good();
  facts.in_recovery = true;
  facts.schema = SchemaState::missing;
  EXPECT_EQ(ids(facts), Ids{"replica"});
}

TEST(PostgresFindingsTest, TheSchemaIsThereOrCanBeMade) {
  ServerFacts facts = good();
  facts.schema = SchemaState::missing;
  EXPECT_EQ(ids(facts), Ids{"no_schema"});
  facts.may_create_schema = true;
  EXPECT_EQ(ids(facts), Ids{});
  facts.schema = SchemaState::denied;
  EXPECT_EQ(ids(facts), Ids{"denied"});
  facts.schema = SchemaState::newer;
  facts.schema_version = 7;
  const auto findings = findings_of(facts);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].message,
            "the schema holdfast is of version 7, and this program needs version " +
                std::to_string(kSchemaVersion));
}

TEST(PostgresFindingsTest, TheWayThereIsLookedAt) {
  ServerFacts facts = good();
  facts.encrypted = false;
  EXPECT_EQ(ids(facts), Ids{"not_encrypted"});
  facts.stays_here = true;
  EXPECT_EQ(ids(facts), Ids{});
  facts.clock_ahead = Millis{-5000};
  facts.round_trip = std::chrono::milliseconds{80};
  EXPECT_EQ(ids(facts), (Ids{"clock", "slow"}));
  facts = good();
  facts.connections = 95;
  facts.superuser = true;
  EXPECT_EQ(ids(facts), (Ids{"few_connections", "superuser"}));
}

TEST(PostgresFindingsTest, EveryFindingSaysWhatToDo) {
  ServerFacts facts = good();
  facts.settings = {{"fsync", "off"}, {"full_page_writes", "off"}, {"autovacuum", "off"}};
  facts.pooled = true;
  facts.superuser = true;
  for (const core::Finding& finding : findings_of(facts)) {
    EXPECT_FALSE(finding.message.empty() || finding.fix.empty()) << finding.id;
  }
}

}  // namespace
}  // namespace holdfast::postgres
