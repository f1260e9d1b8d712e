#include "engines/zookeeper/doctor/ensemble_findings.h"

#include <gtest/gtest.h>

#include <set>

namespace holdfast::zookeeper {
namespace {

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

const char* const kThree =
    "tickTime=2000\nserver.1=a:2888:3888:participant;2181\nserver.2=b:2888:3888:participant\n"
    "server.3=c:2888:3888:participant\nserver.4=d:2888:3888:observer\nmembership: \n";

ServerFacts server(std::string endpoint, std::string mode = "follower") {
  return {.endpoint = std::move(endpoint),
          .mode = std::move(mode),
          .version = "3.8.0",
          .conf = ServerWords::read(kThree),
          .monitor = ServerWords::read("zk_cnt_fsynctime\t5\nzk_cnt_updatelatency\t5\n")};
}

EnsembleFacts good() {
  return {.prefix = "/hf",
          .user = "app",
          .path = {.stays_here = true, .authenticated = true, .open_nodes = false},
          .asked = {server("a:2181"), server("b:2181", "leader"), server("c:2181")},
          .round_trip = std::chrono::milliseconds{2},
          .ttl_min = Millis{4000},
          .ttl_max = Millis{40'000}};
}

TEST(EnsembleFindingsTest, NothingIsWrongWithAGoodEnsemble) {
  EXPECT_EQ(ids(findings_of(good())), Ids{});
}

TEST(EnsembleFindingsTest, ServersAndTheirNumber) {
  EnsembleFacts facts = good();
  facts.asked[0].silence = "connection refused";
  facts.asked[1].mode = "";
  EXPECT_EQ(ids(server_findings(facts)), (Ids{"server_down", "not_serving"}));
  facts = good();
  facts.asked = {server("a:2181")};
  EXPECT_EQ(ids(server_findings(facts)), Ids{"one_endpoint"});
  facts.asked[0] = server("a:2181", "standalone");
  facts.asked[0].conf = {};
  EXPECT_EQ(ids(server_findings(facts)), Ids{"one_server"});
  facts = good();
  for (ServerFacts& one : facts.asked) {
    one.conf = ServerWords::read("server.1=a\nserver.2=b\nserver.3=c\nserver.5=e\n");
  }
  EXPECT_EQ(ids(server_findings(facts)), Ids{"even_servers"});
}

TEST(EnsembleFindingsTest, ReleasesWithoutContainersAreTooOld) {
  EnsembleFacts facts = good();
  for (const char* const old : {"3.4.14-1", "3.5.0", "3.5.2-alpha-1750793", "2.9.9"}) {
    facts.asked[0].version = old;
    EXPECT_EQ(ids(server_findings(facts)), Ids{"too_old"}) << old;
  }
  for (const char* const fine : {"3.5.3", "3.5.10-1", "3.10.0", "4.0", "who knows", ""}) {
    facts.asked[0].version = fine;
    EXPECT_EQ(ids(server_findings(facts)), Ids{}) << fine;
  }
}

TEST(EnsembleFindingsTest, RequestsThatWaitAndDisks) {
  EnsembleFacts facts = good();
  facts.round_trip = std::chrono::milliseconds{80};
  facts.asked[0].monitor = ServerWords::read(
      "zk_outstanding_requests\t500\nzk_cnt_fsynctime\t0\nzk_cnt_updatelatency\t9\n");
  facts.asked[1].monitor = ServerWords::read("zk_avg_fsynctime\t25.5\nzk_max_fsynctime\t90\n");
  EXPECT_EQ(ids(load_findings(facts)), (Ids{"slow", "overloaded", "no_fsync", "slow_disk"}));
  facts = good();
  facts.asked[2].monitor = ServerWords::read("zk_avg_fsynctime\t1\nzk_max_fsynctime\t1500\n");
  EXPECT_EQ(ids(load_findings(facts)), Ids{"slow_disk"});
  facts = good();
  facts.asked[2].conf = ServerWords::read("maxClientCnxns=5\n");
  EXPECT_EQ(ids(load_findings(facts)), Ids{"few_connections"});
  facts.asked[2].conf = ServerWords::read("maxClientCnxns=0\n");
  EXPECT_EQ(ids(load_findings(facts)), Ids{});
}

TEST(EnsembleFindingsTest, TtlsThatAreNotGranted) {
  EnsembleFacts facts = good();
  facts.ttl_min = Millis{6500};
  facts.ttl_max = Millis{20'000};
  const core::Findings found = ttl_findings(facts);
  EXPECT_EQ(ids(found), (Ids{"ttl_raised", "ttl_lowered"}));
  EXPECT_NE(found[0].message.find("6.5 s"), std::string::npos);
  facts.ttl_max = Millis{0};
  facts.ttl_min = Millis{0};
  EXPECT_EQ(ids(ttl_findings(facts)), Ids{});
}

TEST(EnsembleFindingsTest, TtlsAreHeldAgainstTheOneThatIsAskedFor) {
  EnsembleFacts facts = good();
  facts.ttl_asked = Millis{1500};
  core::Findings found = ttl_findings(facts);
  ASSERT_EQ(ids(found), Ids{"ttl_raised"});
  EXPECT_NE(found[0].message.find("a TTL of 1.5 s to 4 s"), std::string::npos) << found[0].message;
  facts.ttl_asked = Millis{60'000};
  found = ttl_findings(facts);
  ASSERT_EQ(ids(found), Ids{"ttl_lowered"});
  EXPECT_NE(found[0].message.find("a TTL of 60 s to 40 s"), std::string::npos) << found[0].message;
  facts.ttl_min = Millis{6000};
  facts.ttl_max = Millis{20'000};
  facts.ttl_asked = Millis{10'000};
  EXPECT_EQ(ids(ttl_findings(facts)), Ids{});
}

TEST(EnsembleFindingsTest, SessionsOfLessThanTwoTicks) {
  EnsembleFacts facts = good();
  facts.asked[1].conf = ServerWords::read("tickTime=2000\nminSessionTimeout=3999\n");
  const core::Findings found = ttl_findings(facts);
  ASSERT_EQ(ids(found), Ids{"less_than_two_ticks"});
  EXPECT_NE(found[0].fix.find("minSessionTimeout=4000"), std::string::npos) << found[0].fix;
  facts.asked[1].conf = ServerWords::read("tickTime=2000\nminSessionTimeout=4000\n");
  EXPECT_EQ(ids(ttl_findings(facts)), Ids{});
}

TEST(EnsembleFindingsTest, RightsAndWhatWasNotTold) {
  EnsembleFacts facts = good();
  facts.refusals = {{"create", "no right to /hf"}};
  facts.asked[1].words_refused = true;
  facts.asked[1].mode = "";
  const core::Findings found = rights_findings(facts);
  EXPECT_EQ(ids(found), (Ids{"denied_create", "not_examined"}));
  EXPECT_EQ(found[0].severity, core::Severity::danger);
  EXPECT_NE(found[0].fix.find("setAcl -R /hf auth:app:"), std::string::npos);
  EXPECT_NE(found[1].message.find("b:2181"), std::string::npos);
  EXPECT_EQ(ids(server_findings(facts)), Ids{});
}

TEST(EnsembleFindingsTest, TheWayThere) {
  EnsembleFacts facts = good();
  facts.path = {.stays_here = false, .authenticated = false};
  EXPECT_EQ(ids(network_findings(facts)), (Ids{"not_encrypted", "no_password"}));
  facts.path.authenticated = true;
  EXPECT_EQ(ids(network_findings(facts)), (Ids{"not_encrypted", "open_to_all"}));
  facts.path.open_nodes = false;
  EXPECT_EQ(ids(network_findings(facts)), Ids{"not_encrypted"});
}

TEST(ServerWordsTest, AreReadInBothForms) {
  const auto words = ServerWords::read("a=1\nzk_b\t2.5\nno word\n=x\nc=\nd=7 s\n");
  EXPECT_EQ(words.number("a"), 1.0);
  EXPECT_EQ(words.number("zk_b"), 2.5);
  EXPECT_EQ(words.number("c"), std::nullopt);
  EXPECT_EQ(words.number("d"), std::nullopt);
  EXPECT_EQ(words.text("d"), "7 s");
  EXPECT_TRUE(ServerWords::read("").empty());
  EXPECT_EQ(ServerWords::read(kThree).voters(), 3U);
}

}  // namespace
}  // namespace holdfast::zookeeper
