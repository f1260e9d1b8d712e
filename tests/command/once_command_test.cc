// once: one program per key, one stored result.

#include <gtest/gtest.h>

#include <csignal>

#include "tests/command/harness.h"

namespace holdfast::test {
namespace {

class OnceCommandTest : public CommandTest {
 protected:
  Words once(const std::string& key, std::string_view script, const Words& options = {}) const {
    return Words{"once", key} + options + shell(script);
  }
};

TEST_F(OnceCommandTest, LaterCallsGetTheOutputAndTheStatus) {
  const Words call = once("k", "echo ran >> $D/runs; echo out; echo err >&2; exit 3");
  const Finished first = run(call);
  EXPECT_EQ(first.code, 3);
  EXPECT_EQ(first.out, "out\n");
  EXPECT_EQ(first.err, "err\n");
  const Finished second = run(call);
  EXPECT_EQ(second.code, 3);
  EXPECT_EQ(second.out, "out\n");
  EXPECT_EQ(second.err, "") << "stderr is not stored";
  EXPECT_EQ(read_lines("runs").size(), 1U);
  EXPECT_EQ(run(once("other", "echo ran >> $D/runs")).code, 0);
  EXPECT_EQ(read_lines("runs").size(), 2U);
}

TEST_F(OnceCommandTest, JsonTellsWhoRan) {
  const auto first = run_json(once("k", "printf 'a\\377'; exit 2"), 2);
  EXPECT_EQ(first.at("key").as_string(), "k");
  EXPECT_EQ(first.at("ran").as_string(), "here");
  EXPECT_EQ(first.at("status").to_number<int>(), 2);
  EXPECT_EQ(first.at("output_base64").as_string(), "Yf8=");
  EXPECT_EQ(run_json(once("k", "true"), 2).at("ran").as_string(), "before");
  EXPECT_EQ(run_json(once("l", "echo hi")).at("output").as_string(), "hi\n");
}

TEST_F(OnceCommandTest, StdinIsTheProgramsOwn) {
  const Finished finished = run_with_input(once("k", "cat"), "typed");
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(finished.out, "typed");
}

TEST_F(OnceCommandTest, OfManyAtOnceOneRuns) {
  std::vector<Running> callers;
  for (int i = 0; i < 16; ++i) {
    callers.push_back(start(once("k", "echo ran >> $D/runs; echo $$")));
  }
  std::string output;
  for (Running& caller : callers) {
    const Finished finished = caller.wait();
    EXPECT_EQ(finished.code, 0) << finished.err;
    if (output.empty()) output = finished.out;
    EXPECT_EQ(finished.out, output);
  }
  EXPECT_EQ(read_lines("runs").size(), 1U);
}

TEST_F(OnceCommandTest, WhileItRunsOthersAreToldSo) {
  Running runner = start(once("k", "echo up > $D/up; until [ -e $D/go ]; do :; done; echo done"));
  await("up");
  const Finished busy = run(once("k", "true", {"--wait", "0"}));
  EXPECT_EQ(busy.code, 75);
  EXPECT_NE(busy.err.find("\"k\" is being run"), std::string::npos) << busy.err;
  EXPECT_EQ(run_json(once("k", "true", {"--wait", "0"}), 75).at("error").at("code").as_string(),
            "in_progress");
  Running waiter = start(once("k", "echo again"));
  await_waiters("once:k", 1);
  write("go", "");
  EXPECT_EQ(runner.wait().out, "done\n");
  EXPECT_EQ(waiter.wait().out, "done\n");
}

TEST_F(OnceCommandTest, ADeadRunnerTakesItsProgramAlongAndIsTakenOver) {
  Running runner =
      start(once("k", "echo $$ > $D/pid; until [ -e $D/never ]; do sleep 0.01; done; echo first"));
  const pid_t program = std::stoi(await("pid"));
  Running next = start(once("k", "if kill -0 $(cat $D/pid); then echo alive; else echo alone; fi"));
  await_waiters("once:k", 1);
  runner.signal(SIGKILL);
  const Finished finished = next.wait();
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(finished.out, "alone\n") << "the first program had to be dead by then";
  EXPECT_FALSE(process_exists(program));
  EXPECT_EQ(run(once("k", "echo third")).out, "alone\n");
}

TEST_F(OnceCommandTest, ARunnerThatLosesItsLeaseIsEndedAndStoresNothing) {
  Running runner = start(once("k", "echo up > $D/up; until [ -e $D/never ]; do :; done"));
  await("up");
  ASSERT_EQ(run({"break", "once:k", "--why", "test"}).code, 0);
  const Finished finished = runner.wait();
  EXPECT_EQ(finished.code, 76) << finished.err;
  EXPECT_EQ(finished.out, "");
  EXPECT_EQ(run(once("k", "echo second")).out, "second\n");
}

TEST_F(OnceCommandTest, AFailureIsRetriedIfAsked) {
  const Words retry{"--on-failure", "retry"};
  EXPECT_EQ(run(once("k", "echo bad; exit 4", retry)).code, 4);
  const Finished good = run(once("k", "echo good", retry));
  EXPECT_EQ(good.code, 0);
  EXPECT_EQ(good.out, "good\n");
  EXPECT_EQ(run(once("k", "exit 4", retry)).out, "good\n");
}

TEST_F(OnceCommandTest, ASignalThatEndsTheProgramIsItsStatus) {
  EXPECT_EQ(run(once("k", "kill -9 $$")).code, 137);
  EXPECT_EQ(run(once("k", "true")).code, 137);
}

TEST_F(OnceCommandTest, AnInterruptedProgramHasNoResult) {
  Running runner = start(once("k", "echo up > $D/up; until [ -e $D/never ]; do :; done"));
  await("up");
  runner.signal(SIGTERM);
  EXPECT_EQ(runner.wait().code, 143);
  EXPECT_EQ(run(once("k", "echo second")).out, "second\n");
}

TEST_F(OnceCommandTest, ASignalThatTheProgramSurvivesChangesNothing) {
  Running runner = start(once("k",
                              "trap 'touch $D/asked' TERM; echo up > $D/up;"
                              " until [ -e $D/asked ]; do :; done; echo finished"));
  await("up");
  runner.signal(SIGTERM);
  EXPECT_EQ(runner.wait().out, "finished\n");
  EXPECT_EQ(run(once("k", "echo second")).out, "finished\n");
}

TEST_F(OnceCommandTest, TooMuchOutputIsAnErrorAndNotStored) {
  const Finished finished = run(once("k", "head -c 1100000 /dev/zero"));
  EXPECT_EQ(finished.code, 65);
  EXPECT_EQ(finished.out, "");
  EXPECT_NE(finished.err.find("1048576"), std::string::npos) << finished.err;
  EXPECT_EQ(run(once("k", "head -c 1048576 /dev/zero")).code, 65) << "the status needs room too";
  EXPECT_EQ(run(once("k", "head -c 1048571 /dev/zero")).out.size(), 1'048'571U);
}

TEST_F(OnceCommandTest, AProgramThatCannotStartHasNoResult) {
  EXPECT_EQ(run({"once", "k", "--", path("nosuch")}).code, 127);
  EXPECT_EQ(run(once("k", "echo second")).out, "second\n");
}

TEST_F(OnceCommandTest, ResultsExpire) {
  ASSERT_EQ(run(once("k", "echo first", {"--keep", "1ms"})).out, "first\n");
  eventually("the end of the result",
             [&] { return run(once("k", "echo second")).out == "second\n"; });
}

TEST_F(OnceCommandTest, TheProgramsWritesAreFencedByTheRunner) {
  const Finished finished = run(once("k", "$H open effect && $H put effect done > /dev/null"));
  EXPECT_EQ(finished.code, 0) << finished.err;
  const auto entry = run_json({"get", "effect"});
  EXPECT_EQ(entry.at("value").as_string(), "done");
  EXPECT_FALSE(entry.at("token").is_null());
}

TEST_F(OnceCommandTest, TheRunnerIsNotForUsers) {
  EXPECT_EQ(
      run({"once-runner", "--key", "k", "--keep", "1s", "--on-failure", "store", "--", "true"})
          .code,
      65);
  EXPECT_EQ(run({"--help"}).out.find("once-runner"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::test
