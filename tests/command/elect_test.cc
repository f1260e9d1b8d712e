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
