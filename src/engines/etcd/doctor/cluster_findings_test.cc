#include "engines/etcd/doctor/cluster_findings.h"

#include <gtest/gtest.h>

#include <set>

namespace holdfast::etcd {
namespace {

using namespace std::chrono_literals;
using Ids = std::set<std::string>;

Ids ids(const core::Findings& findings) {
  Ids all;
  for (const core::Finding& finding : findings) {
    EXPECT_FALSE(finding.message.empty());
    EXPECT_FALSE(finding.fix.empty());
    all.insert(finding.id);
  }
  return all;
}

std::string metrics_text(double fsync_seconds = 0.001) {
  const bool slow = fsync_seconds > 0.01;
  return std::string{"# TYPE etcd_disk_wal_fsync_duration_seconds histogram\n"} +
         "etcd_disk_wal_fsync_duration_seconds_bucket{le=\"0.001\"} " + (slow ? "0" : "990") +
         "\netcd_disk_wal_fsync_duration_seconds_bucket{le=\"0.128\"} 995\n"
         "etcd_disk_wal_fsync_duration_seconds_bucket{le=\"+Inf\"} 1000\n"
         "etcd_disk_wal_fsync_duration_seconds_count 1000\n"
         "etcd_server_proposals_applied_total 700\n"
         "etcd_server_quota_backend_bytes 2.147483648e+09\n"
         "etcd_debugging_mvcc_current_revision 1e+06\n"
         "etcd_debugging_mvcc_compact_revision -1\n"
         "process_start_time_seconds 1.7e+09\n"
         "etcd_server_leader_changes_seen_total 2\n";
}

ClusterFacts good_facts() {
  ClusterFacts facts{.prefix = "hf/", .user = "app"};
  facts.path = {.encrypted = true, .authenticated = true};
  std::uint64_t id = 0;
  for (const char* endpoint : {"a:2379", "b:2379", "c:2379"}) {
    facts.listed.push_back({++id, endpoint, {std::string{"https://"} + endpoint}});
    facts.asked.push_back({.endpoint = endpoint,
                           .version = "3.5.21",
                           .id = id,
                           .leader = 1,
                           .database_bytes = 1 << 20,
                           .metrics = Metrics::read(metrics_text()),
                           .read_at = 1.7e9 + 7200});
  }
  facts.voters = 3;
  facts.round_trip = 2ms;
  facts.ttl_min = Seconds{2};
  return facts;
}

TEST(ClusterFindingsTest, NothingIsWrongWithAGoodCluster) {
  EXPECT_EQ(ids(findings_of(good_facts())), Ids{});
}

TEST(ClusterFindingsTest, MembersThatAreDownAreNamed) {
  ClusterFacts facts = good_facts();
  facts.asked[1] = {.endpoint = "b:2379", .silence = "connection refused"};
  const auto found = findings_of(facts);
  EXPECT_EQ(ids(found), Ids{"member_down"});
  EXPECT_NE(found[0].message.find("b:2379"), std::string::npos);
  EXPECT_NE(found[0].message.find("connection refused"), std::string::npos);
}

TEST(ClusterFindingsTest, AClusterMayBeTooSmallOrEven) {
  ClusterFacts facts = good_facts();
  facts.voters = 4;
  EXPECT_EQ(ids(findings_of(facts)), Ids{"even_members"});
  facts.voters = 3;
  facts.asked.resize(1);
  EXPECT_EQ(ids(findings_of(facts)), Ids{"one_endpoint"});
  facts.voters = 1;
  facts.listed.resize(1);
  EXPECT_EQ(ids(findings_of(facts)), Ids{"one_member"});
}

TEST(ClusterFindingsTest, MembersThatTheUrlLeavesOutAreNamed) {
  ClusterFacts facts = good_facts();
  facts.asked.pop_back();
  const auto found = findings_of(facts);
  EXPECT_EQ(ids(found), Ids{"unnamed_members"});
  EXPECT_NE(found[0].message.find("https://c:2379"), std::string::npos);
  EXPECT_EQ(found[0].message.find("https://b:2379"), std::string::npos);
  // By another name than the cluster's own, but it answers.
  facts = good_facts();
  facts.asked[2].endpoint = "10.0.0.3:2379";
  EXPECT_EQ(ids(findings_of(facts)), Ids{});
  // One that does not answer may be any of them.
  facts.asked[2] = {.endpoint = "10.0.0.3:2379", .silence = "connection refused"};
  EXPECT_EQ(ids(findings_of(facts)), Ids{"member_down"});
}

TEST(ClusterFindingsTest, AMemberThatWasAddedAndNeverStartedIsFound) {
  ClusterFacts facts = good_facts();
  facts.listed.push_back({4, "", {}});
  EXPECT_EQ(ids(findings_of(facts)), Ids{"member_not_started"});
}

TEST(ClusterFindingsTest, WhoFollowsNobodyGrantsNothing) {
  ClusterFacts facts = good_facts();
  facts.asked[0].leader = 0;
  EXPECT_EQ(ids(member_findings(facts)), Ids{"no_leader"});
  EXPECT_FALSE(core::is_safe(member_findings(facts)));
  facts.asked[0].is_learner = true;
  EXPECT_EQ(ids(member_findings(facts)), Ids{"learner"});
}

TEST(ClusterFindingsTest, SlowAgreementNeedsLongLeases) {
  ClusterFacts facts = good_facts();
  facts.round_trip = 200ms;
  const auto found = findings_of(facts);
  EXPECT_EQ(ids(found), Ids{"slow"});
  EXPECT_NE(found[0].message.find("200.0 ms"), std::string::npos);
  EXPECT_NE(found[0].fix.find("20 s"), std::string::npos);
}

TEST(ClusterFindingsTest, ADiskThatIsSlowOrNotWaitedFor) {
  ClusterFacts facts = good_facts();
  facts.asked[2].metrics = Metrics::read(metrics_text(0.1));
  const auto slow = findings_of(facts);
  EXPECT_EQ(ids(slow), Ids{"slow_disk"});
  EXPECT_NE(slow[0].message.find("128.0 ms"), std::string::npos);
  facts.asked[2].metrics = Metrics::read(
      "etcd_disk_wal_fsync_duration_seconds_count 0\netcd_server_proposals_applied_total 9\n");
  EXPECT_EQ(ids(findings_of(facts)), Ids{"no_fsync"});
  EXPECT_FALSE(core::is_safe(findings_of(facts)));
}

TEST(ClusterFindingsTest, ALeaderThatChangesOften) {
  ClusterFacts facts = good_facts();
  facts.asked[0].metrics = Metrics::read(
      "process_start_time_seconds 1.7e+09\netcd_server_leader_changes_seen_total 40\n");
  EXPECT_EQ(ids(findings_of(facts)), Ids{"leader_changes"});
}

TEST(ClusterFindingsTest, SpaceThatRunsOut) {
  ClusterFacts facts = good_facts();
  facts.asked[0].database_bytes = 2'000'000'000;
  EXPECT_EQ(ids(findings_of(facts)), Ids{"space_short"});
  facts.alarms = {{.member = 1, .kind = Alarm::Kind::no_space}};
  EXPECT_EQ(ids(findings_of(facts)), (Ids{"no_space", "space_short"}));
  EXPECT_FALSE(core::is_safe(findings_of(facts)));
  facts = good_facts();
  facts.alarms = {{.member = 1, .kind = Alarm::Kind::corrupt}};
  EXPECT_EQ(ids(findings_of(facts)), Ids{"corrupt"});
}

TEST(ClusterFindingsTest, HistoryThatNobodyCompacts) {
  ClusterFacts facts = good_facts();
  facts.asked[0].metrics = Metrics::read(
      "etcd_debugging_mvcc_current_revision 9e+06\netcd_debugging_mvcc_compact_revision -1\n");
  EXPECT_EQ(ids(findings_of(facts)), Ids{"not_compacted"});
}

TEST(ClusterFindingsTest, ALeastTtlThatIsHigherThanUsual) {
  ClusterFacts facts = good_facts();
  facts.ttl_min = Seconds{8};
  const auto found = findings_of(facts);
  EXPECT_EQ(ids(found), Ids{"ttl_raised"});
  EXPECT_NE(found[0].message.find("8 s"), std::string::npos);
}

TEST(ClusterFindingsTest, TheLeastTtlIsHeldAgainstTheOneThatIsAskedFor) {
  ClusterFacts facts = good_facts();
  facts.ttl_asked = Millis{1500};
  const auto found = findings_of(facts);
  EXPECT_EQ(ids(found), Ids{"ttl_raised"});
  EXPECT_NE(found[0].message.find("a TTL of 1500 ms to 2 s"), std::string::npos);
  facts.ttl_asked = Millis{10'000};
  facts.ttl_min = Seconds{8};
  EXPECT_EQ(ids(findings_of(facts)), Ids{});
}

TEST(ClusterFindingsTest, RightsThatAreMissing) {
  ClusterFacts facts = good_facts();
  facts.refusals = {{"write", "etcdserver: permission denied"}};
  const auto found = findings_of(facts);
  EXPECT_EQ(ids(found), Ids{"denied_write"});
  EXPECT_EQ(found[0].fix, "etcdctl role grant-permission ROLE readwrite --prefix=true hf/");
  facts.prefix = "";
  EXPECT_EQ(findings_of(facts)[0].fix,
            "etcdctl role grant-permission ROLE readwrite --from-key=true ''");
}

TEST(ClusterFindingsTest, WhatCouldNotBeAskedIsSaid) {
  ClusterFacts facts = good_facts();
  for (MemberFacts& member : facts.asked) member.metrics = {};
  EXPECT_EQ(ids(findings_of(facts)), Ids{"not_examined"});
  facts = good_facts();
  facts.voters = 0;
  EXPECT_EQ(ids(findings_of(facts)), Ids{"not_examined"});
}

TEST(ClusterFindingsTest, AnOpenWay) {
  ClusterFacts facts = good_facts();
  facts.path = {};
  EXPECT_EQ(ids(findings_of(facts)), (Ids{"not_encrypted", "no_password"}));
  facts.path.stays_here = true;
  EXPECT_EQ(ids(findings_of(facts)), Ids{});
}

Ids defects(const std::string& version, std::size_t voters = 3) {
  ClusterFacts facts = good_facts();
  facts.voters = voters;
  facts.asked.resize(1);
  facts.asked[0].version = version;
  return ids(version_findings(facts));
}

TEST(ClusterFindingsTest, VersionsWithKnownDefects) {
  EXPECT_EQ(defects("3.3.27"), Ids{"version_old"});
  EXPECT_EQ(defects("3.4.30"), (Ids{"leases_end_early", "revision_goes_back"}));
  EXPECT_EQ(defects("3.4.31"), Ids{"revision_goes_back"});
  EXPECT_EQ(defects("3.4.32"), Ids{});
  EXPECT_EQ(defects("3.4.20", 1),
            (Ids{"not_durable_alone", "leases_end_early", "revision_goes_back"}));
  EXPECT_EQ(defects("3.4.20", 3), (Ids{"leases_end_early", "revision_goes_back"}));
  EXPECT_EQ(defects("3.5.2"), (Ids{"inconsistent_data", "leases_end_early", "revision_goes_back"}));
  EXPECT_EQ(defects("3.5.13"), Ids{"revision_goes_back"});
  EXPECT_EQ(defects("3.5.14"), Ids{});
  EXPECT_EQ(defects("3.6.0"), Ids{});
  EXPECT_EQ(defects("3.5.2-rc.1").count("inconsistent_data"), 1U);
  EXPECT_EQ(defects("unknown"), Ids{});
}

TEST(MetricsTest, ReadsValuesAndHistograms) {
  const Metrics metrics = Metrics::read(
      "# HELP a text\na 1\nb{x=\"y\"} 2\nc 3.5e+03\nd nonsense\n"
      "h_bucket{le=\"0.5\"} 50\nh_bucket{le=\"1\"} 99\nh_bucket{le=\"+Inf\"} 100\nlast 7");
  EXPECT_EQ(metrics.value("a"), 1.0);
  EXPECT_EQ(metrics.value("c"), 3500.0);
  EXPECT_EQ(metrics.value("last"), 7.0);
  EXPECT_FALSE(metrics.value("b"));
  EXPECT_FALSE(metrics.value("d"));
  EXPECT_EQ(metrics.quantile("h", 0.5), 0.5);
  EXPECT_EQ(metrics.quantile("h", 0.99), 1.0);
  EXPECT_FALSE(metrics.quantile("none", 0.5));
  EXPECT_TRUE(Metrics::read("<html>").empty());
}

}  // namespace
}  // namespace holdfast::etcd
