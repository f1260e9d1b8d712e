// `holdfast elect` and `holdfast leader`: one of several candidates runs its program.

#include <gtest/gtest.h>

#include <csignal>

#include "tests/command/harness.h"

namespace holdfast::test {
namespace {

class ElectTest : public CommandTest {
 protected:
  /// A candidate whose program says that it leads, and goes on until it is told to end.
  Running candidate(const std::string& id, const Words& more = {}) {
    const std::string script =
        "echo $HOLDFAST_TOKEN >> $D/" + id + "; trap 'exit 9' TERM; while :; do sleep 0.02; done";
    return start(Words{"elect", "billing", "--id", id, "--value", "address of " + id} + more +
                 shell(script));
  }

  boost::json::value leader() {
    const Finished finished = run({"leader", "billing", "--json"});
    return parse_object(finished.out).at("leader");
  }

  std::string leader_id() {
    const auto found = leader();
    return found.is_null() ? "" : std::string{found.as_object().at("id").as_string()};
  }
};

TEST_F(ElectTest, TheLeaderIsShownWithItsValueAndEpoch) {
  Running anna = candidate("anna");
  const std::string token = await("anna");
  const auto shown = leader().as_object();
  EXPECT_EQ(shown.at("id").as_string(), "anna");
  EXPECT_EQ(shown.at("value").as_string(), "address of anna");
  EXPECT_EQ(std::to_string(shown.at("epoch").to_number<std::uint64_t>()) + "\n", token);
  EXPECT_EQ(keys(shown),
            (std::set<std::string>{"id", "value", "epoch", "host", "pid", "since_ms"}));
  const Finished human = run({"leader", "billing"});
  EXPECT_EQ(human.code, 0);
  EXPECT_EQ(human.out.rfind("anna  address of anna  epoch ", 0), 0U) << human.out;
}

TEST_F(ElectTest, NobodyLeadsIsExitCode66) {
  EXPECT_EQ(run_json({"leader", "billing"}, 66).at("leader"), nullptr);
  const Finished human = run({"leader", "billing"});
  EXPECT_EQ(human.code, 66);
  EXPECT_NE(human.err.find("nobody leads 'billing'"), std::string::npos) << human.err;
}

TEST_F(ElectTest, TheNextOneRunsItsProgramWhenTheLeaderIsKilled) {
  Running anna = candidate("anna", {"--ttl", "1s"});
  await("anna");
  Running bert = candidate("bert", {"--ttl", "1s"});
  await_waiters("billing", 1);
  EXPECT_FALSE(exists("bert"));
  anna.signal(SIGKILL);
  EXPECT_LT(std::stoull(read("anna")), std::stoull(await("bert")));
  EXPECT_EQ(leader_id(), "bert");
}

TEST_F(ElectTest, TheExitCodeIsTheProgramsOwnAndTheNextOneLeads) {
  Running anna = candidate("anna");
  await("anna");
  Running bert = candidate("bert");
  await_waiters("billing", 1);
  anna.signal(SIGTERM);
  EXPECT_EQ(anna.wait().code, 9);
  await("bert");
}

TEST_F(ElectTest, AfterALossTheProgramIsEndedAndItCampaignsAgain) {
  Running anna = candidate("anna", {"--ttl", "1s"});
  await("anna");
  const pid_t process = anna.pid();
  ASSERT_EQ(run({"break", "billing"}).code, 0);
  eventually("a second term", [&] { return read_lines("anna").size() == 2; });
  EXPECT_EQ(anna.pid(), process);
  EXPECT_TRUE(anna.alive());
  EXPECT_EQ(leader_id(), "anna");
  // What it inherited is as it was: signals reach it, and the program.
  anna.signal(SIGTERM);
  EXPECT_EQ(anna.wait().code, 9);
}

TEST_F(ElectTest, WhoIsToldToEndRightAfterALossDoesNotLeadAgain) {
  Running anna = candidate("anna");
  await("anna");
  EXPECT_EQ(run({"break", "billing"}).code, 0);
  anna.signal(SIGTERM);
  EXPECT_NE(anna.wait().code, 0);
  EXPECT_EQ(leader_id(), "");
}

TEST_F(ElectTest, WithOnceALossIsExitCode76) {
  Running anna = candidate("anna", {"--ttl", "1s", "--once"});
  await("anna");
  ASSERT_EQ(run({"break", "billing"}).code, 0);
  EXPECT_EQ(anna.wait().code, 76);
}

TEST_F(ElectTest, ASecondLifeHasTheStandardStreamsOfTheFirst) {
  const int out = open_output("out");
  Running anna = start(Launch{.arguments = Words{"elect", "billing", "--ttl", "1s"} +
                                           shell("echo line; echo >> $D/terms; exec sleep 60"),
                              .descriptors = {{1, out}}});
  await("terms");
  ASSERT_EQ(run({"break", "billing"}).code, 0);
  eventually("a second term", [&] { return read_lines("terms").size() == 2; });
  eventually("its output", [&] { return read("out") == "line\nline\n"; });
}

TEST_F(ElectTest, AWatchPrintsEveryChange) {
  const int out = open_output("changes");
  Running watch = start(
      Launch{.arguments = {"leader", "billing", "--watch", "--json"}, .descriptors = {{1, out}}});
  eventually("the first line", [&] { return read_lines("changes").size() == 1; });
  Running anna = candidate("anna");
  eventually("a leader", [&] { return read_lines("changes").size() == 2; });
  anna.signal(SIGTERM);
  eventually("none", [&] { return read_lines("changes").size() == 3; });
  watch.signal(SIGINT);
  EXPECT_EQ(watch.wait().code, 130);
  const auto lines = read_lines("changes");
  EXPECT_EQ(lines.at(0), R"({"name":"billing","leader":null})");
  EXPECT_EQ(parse_object(lines.at(1)).at("leader").at("id").as_string(), "anna");
  EXPECT_EQ(lines.at(2), lines.at(0));
}

TEST_F(ElectTest, AnybodyMayHaveTheLeaderHandOverToACandidateThatWaits) {
  Running anna = candidate("anna");
  await("anna");
  Running bert = candidate("bert");
  await_waiters("billing", 1);
  Running carl = candidate("carl");
  await_waiters("billing", 2);
  const auto handed = run_json({"leader", "billing", "--hand-over-to", "carl"});
  EXPECT_EQ(handed.at("leader").as_object().at("id").as_string(), "carl");
  EXPECT_LT(std::stoull(read("anna")), std::stoull(await("carl")));
  EXPECT_FALSE(exists("bert")) << "it was first in the queue";
  EXPECT_TRUE(anna.alive()) << "it campaigns again";
  await_waiters("billing", 2);
  EXPECT_EQ(run({"leader", "billing", "--hand-over-to", "carl"}).code, 0) << "it leads already";
  EXPECT_EQ(run({"leader", "billing", "--hand-over-to", "anna"}).code, 0);
  EXPECT_EQ(leader_id(), "anna");
  eventually("its second term", [&] { return read_lines("anna").size() == 2; });
}

TEST_F(ElectTest, AHandOverLeavesTheProgramItsGraceAndNoLonger) {
  Running anna =
      start(Words{"elect", "billing", "--id", "anna", "--grace", "300ms"} +
            shell("trap 'echo >> $D/told' TERM; echo > $D/anna; while :; do sleep 0.02; done"));
  await("anna");
  Running bert = candidate("bert");
  await_waiters("billing", 1);
  EXPECT_EQ(run({"leader", "billing", "--hand-over-to", "bert"}).code, 0);
  EXPECT_EQ(read_lines("told").size(), 1U);
}

TEST_F(ElectTest, WithOnceAHandOverEndsWithTheProgramsCode) {
  Running anna = candidate("anna", {"--once"});
  await("anna");
  Running bert = candidate("bert");
  await_waiters("billing", 1);
  EXPECT_EQ(run({"leader", "billing", "--hand-over-to", "bert"}).code, 0);
  const Finished ended = anna.wait();
  EXPECT_EQ(ended.code, 9);
  EXPECT_NE(ended.err.find("'billing' was given up for bert"), std::string::npos) << ended.err;
}

TEST_F(ElectTest, AHandOverThatCannotBeLeavesTheLeaderAlone) {
  EXPECT_EQ(run({"leader", "billing", "--hand-over-to", "bert"}).code, 66) << "nobody leads";
  Running anna = candidate("anna");
  await("anna");
  const Finished nobody = run({"leader", "billing", "--hand-over-to", "bert"});
  EXPECT_EQ(nobody.code, 66);
  EXPECT_NE(nobody.err.find("no candidate bert waits for billing"), std::string::npos)
      << nobody.err;
  EXPECT_EQ(run({"leader", "billing", "--hand-over-to", "two words"}).code, 65);
  EXPECT_EQ(run({"leader", "billing", "--hand-over-to", "bert", "--watch"}).code, 64);
  EXPECT_EQ(run({"leader", "billing", "--wait", "1s"}).code, 64);
  EXPECT_EQ(leader_id(), "anna");
  EXPECT_EQ(read_lines("anna").size(), 1U);
}

TEST_F(ElectTest, ALeaderThatIsNoCandidateDoesNotGiveWay) {
  Running foreign = start(Words{"run", "billing"} + shell("echo > $D/ready; exec sleep 60"));
  await("ready");
  Running bert = candidate("bert");
  await_waiters("billing", 1);
  const Finished late = run({"leader", "billing", "--hand-over-to", "bert", "--wait", "300ms"});
  EXPECT_EQ(late.code, 75);
  EXPECT_NE(late.err.find("bert does not lead: another program does"), std::string::npos)
      << late.err;
  EXPECT_TRUE(foreign.alive());
}

TEST_F(ElectTest, WhatIsWrongIsRefusedBeforeAnythingRuns) {
  EXPECT_EQ(run({"elect", "billing"}).code, 64);
  EXPECT_EQ(run({"elect", "billing", "--id", "two words", "--", "true"}).code, 65);
  EXPECT_EQ(run({"elect", "billing", "--ttl", "soon", "--", "true"}).code, 65);
  EXPECT_EQ(run({"elect", "billing", "--wait", "0", "--", "true"}).code, 0);
  Running anna = candidate("anna");
  await("anna");
  EXPECT_EQ(run({"elect", "billing", "--wait", "0", "--", "true"}).code, 75);
}

}  // namespace
}  // namespace holdfast::test
