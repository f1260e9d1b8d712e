// `holdfast run` when nothing goes wrong with the lease: exit codes, environment, descriptors.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "tests/command/harness.h"

namespace holdfast::test {
namespace {

class RunTest : public CommandTest {
 protected:
  // What `--status-fd 3` says, one object per line.
  std::vector<boost::json::object> events(const std::vector<std::string>& arguments, int code) {
    const int fd = open_output("status");
    const Finished finished = run(Launch{.arguments = arguments, .descriptors = {{3, fd}}});
    EXPECT_EQ(finished.code, code) << finished.err;
    std::vector<boost::json::object> objects;
    for (const std::string& line : read_lines("status")) objects.push_back(parse_object(line));
    return objects;
  }
};

TEST_F(RunTest, SecondOfTwoIsRefusedWhileTheFirstHolds) {
  Running first = start(Words{"run", "x"} + shell("echo ready > $D/ready; until [ -e $D/go ]; do "
                                                  "sleep 0.01; done"));
  await("ready");
  const Finished second = run({"run", "x", "--wait", "0", "--", "true"});
  EXPECT_EQ(second.code, 75);
  EXPECT_NE(second.err.find("'x' is held by"), std::string::npos) << second.err;
  const Finished patient = run({"run", "x", "--wait", "50ms", "--", "true"});
  EXPECT_EQ(patient.code, 75);
  EXPECT_NE(patient.err.find("waited in vain"), std::string::npos) << patient.err;
  write("go", "");
  EXPECT_EQ(first.wait().code, 0);
  EXPECT_EQ(run({"run", "x", "--wait", "0", "--", "true"}).code, 0);
}

TEST_F(RunTest, WaitersFollowInOrderWithRisingTokens) {
  const std::string script = "echo $HOLDFAST_TOKEN >> $D/tokens";
  Running first = start(Words{"run", "x"} + shell(script + "; echo > $D/ready; until [ -e $D/go ]; "
                                                           "do sleep 0.01; done"));
  await("ready");
  Running second = start(Words{"run", "x"} + shell("echo second >> $D/order;" + script));
  await_waiters("x", 1);
  Running third = start(Words{"run", "x"} + shell("echo third >> $D/order;" + script));
  await_waiters("x", 2);
  write("go", "");
  EXPECT_EQ(first.wait().code, 0);
  EXPECT_EQ(second.wait().code, 0);
  EXPECT_EQ(third.wait().code, 0);
  EXPECT_EQ(read("order"), "second\nthird\n");
  const auto tokens = read_lines("tokens");
  ASSERT_EQ(tokens.size(), 3U);
  EXPECT_LT(std::stoull(tokens[0]), std::stoull(tokens[1]));
  EXPECT_LT(std::stoull(tokens[1]), std::stoull(tokens[2]));
}

TEST_F(RunTest, SharedAndPermitsHoldTogether) {
  const auto hold = shell("echo >> $D/in; until [ -e $D/go ]; do sleep 0.01; done");
  Running a = start(Words{"run", "r", "--shared"} + hold);
  Running b = start(Words{"run", "r", "--shared"} + hold);
  Running c = start(Words{"run", "p", "--permits", "2"} + hold);
  Running d = start(Words{"run", "p", "--permits", "2"} + hold);
  eventually("all four", [&] { return read_lines("in").size() == 4; });
  EXPECT_EQ(run({"run", "r", "--wait", "0", "--", "true"}).code, 75);
  EXPECT_EQ(run({"run", "p", "--permits", "2", "--wait", "0", "--", "true"}).code, 75);
  EXPECT_EQ(run({"run", "p", "--permits", "3", "--wait", "0", "--", "true"}).code, 65);
  write("go", "");
  for (Running* running : {&a, &b, &c, &d}) EXPECT_EQ(running->wait().code, 0);
}

TEST_F(RunTest, TheExitCodeIsTheProgramsOwn) {
  EXPECT_EQ(run({"run", "x", "--", "true"}).code, 0);
  EXPECT_EQ(run(Words{"run", "x"} + shell("exit 3")).code, 3);
  const Finished killed = run(Words{"run", "x"} + shell("kill -KILL $$"));
  EXPECT_EQ(killed.code, 137);
  EXPECT_FALSE(killed.signalled);
}

TEST_F(RunTest, ProgramsThatCannotStartAreToldApart) {
  const Finished missing = run({"run", "x", "--", path("none")});
  EXPECT_EQ(missing.code, 127);
  EXPECT_NE(missing.err.find("No such file"), std::string::npos) << missing.err;
  write("plain", "text");
  const Finished plain = run({"run", "x", "--", path("plain")});
  EXPECT_EQ(plain.code, 126);
  EXPECT_NE(plain.err.find("Permission denied"), std::string::npos) << plain.err;
  EXPECT_EQ(run({"run", "x", "--wait", "0", "--", "true"}).code, 0) << "the lock was released";
}

TEST_F(RunTest, TheEnvironmentNamesTheLease) {
  const Finished finished = run(Words{"run", "a b"} + shell("env | grep ^HOLDFAST_ | sort"));
  EXPECT_EQ(finished.code, 0);
  EXPECT_NE(finished.out.find("HOLDFAST_ENGINE=" + engine() + "\n"), std::string::npos)
      << finished.out;
  EXPECT_NE(finished.out.find("HOLDFAST_LOCK=a b\n"), std::string::npos);
  EXPECT_NE(finished.out.find("HOLDFAST_OWNER="), std::string::npos);
  EXPECT_NE(finished.out.find("HOLDFAST_SEQUENCER=hf1:"), std::string::npos);
  EXPECT_NE(finished.out.find("HOLDFAST_TOKEN="), std::string::npos);
}

TEST_F(RunTest, NestedRunsSeeTheirOwnLock) {
  const std::string inner = std::string{HOLDFAST_COMMAND_PATH} +
                            " run inner -- sh -c 'echo $HOLDFAST_LOCK $HOLDFAST_TOKEN'";
  const Finished finished =
      run(Words{"run", "outer"} + shell("echo $HOLDFAST_LOCK $HOLDFAST_TOKEN; " + inner));
  EXPECT_EQ(finished.code, 0) << finished.err;
  std::istringstream words{finished.out};
  std::string outer_lock, outer_token, inner_lock, inner_token;
  words >> outer_lock >> outer_token >> inner_lock >> inner_token;
  EXPECT_EQ(outer_lock, "outer");
  EXPECT_EQ(inner_lock, "inner");
  EXPECT_NE(outer_token, inner_token);
}

TEST_F(RunTest, StatusTellsHoldfastsCodesFromTheProgrammes) {
  const auto good = events(Words{"run", "x", "--status-fd", "3"} + shell("exit 75"), 75);
  ASSERT_EQ(good.size(), 4U);
  EXPECT_EQ(good[0].at("event").as_string(), "acquired");
  EXPECT_EQ(good[0].at("name").as_string(), "x");
  EXPECT_GT(good[0].at("token").to_number<std::uint64_t>(), 0U);
  EXPECT_EQ(good[1].at("event").as_string(), "started");
  EXPECT_EQ(good[2].at("event").as_string(), "released");
  EXPECT_EQ(good[2].at("outcome").as_string(), "released");
  EXPECT_EQ(good[3].at("event").as_string(), "exit");
  EXPECT_EQ(good[3].at("code").as_int64(), 75);
  EXPECT_FALSE(good[3].at("holdfast").as_bool());

  ASSERT_EQ(run({"acquire", "y", "--ttl", "1h"}).code, 0);
  const auto busy = events({"run", "y", "--wait", "0", "--status-fd", "3", "--", "true"}, 75);
  ASSERT_EQ(busy.size(), 1U);
  EXPECT_EQ(busy[0].at("code").as_int64(), 75);
  EXPECT_TRUE(busy[0].at("holdfast").as_bool());
  EXPECT_EQ(busy[0].at("reason").as_string(), "busy");

  const auto missing = events({"run", "x", "--status-fd", "3", "--", path("none")}, 127);
  ASSERT_EQ(missing.size(), 3U);
  EXPECT_EQ(missing[2].at("reason").as_string(), "could_not_start");
  EXPECT_TRUE(missing[2].at("holdfast").as_bool());
}

TEST_F(RunTest, NoDescriptorOfHoldfastsReachesTheProgram) {
  const Finished finished =
      run(Launch{.arguments = Words{"run", "x", "--status-fd", "4"} + shell("ls -l /proc/self/fd"),
                 .descriptors = {{4, open_output("status")}, {5, open_output("theirs")}}});
  ASSERT_EQ(finished.code, 0);
  // The three standard ones, the user's own, and the directory `ls` reads.
  EXPECT_EQ(std::ranges::count(finished.out, '>'), 5) << finished.out;
  EXPECT_NE(finished.out.find(path("theirs")), std::string::npos) << finished.out;
  EXPECT_EQ(finished.out.find("status"), std::string::npos) << finished.out;
  EXPECT_EQ(finished.out.find("socket:"), std::string::npos) << finished.out;
  EXPECT_EQ(finished.out.find(state_directory()), std::string::npos) << finished.out;
}

TEST_F(RunTest, ClosedStandardStreamsStayClosedForTheProgram) {
  const Finished finished = run(Launch{
      .arguments = Words{"run", "x"} + shell("ls /proc/self/fd > $D/fds; cat <&0 2>/dev/null; "
                                             "echo read=$? >> $D/fds"),
      .descriptors = {{0, -1}, {1, -1}}});
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_NE(read("fds").find("read="), std::string::npos);
  EXPECT_EQ(read("fds").find("read=0"), std::string::npos) << read("fds");
}

TEST_F(RunTest, AReaderThatWentAwayDoesNotEndTheSupervisor) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  close(ends[0]);
  const Finished finished =
      run(Launch{.arguments = Words{"run", "x", "--status-fd", "4"} + shell("exit 5"),
                 .descriptors = {{4, ends[1]}}});
  close(ends[1]);
  EXPECT_EQ(finished.code, 5);
}

TEST_F(RunTest, TheProgramDiesOfItsOwnBrokenPipe) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  close(ends[0]);
  const Finished finished =
      run(Launch{.arguments = {"run", "x", "--", "yes"}, .descriptors = {{1, ends[1]}}});
  close(ends[1]);
  EXPECT_EQ(finished.code, 141);
}

TEST_F(RunTest, InputReachesTheProgram) {
  write("input", "hello\n");
  const int fd = open(path("input").c_str(), O_RDONLY);
  const Finished finished =
      run(Launch{.arguments = {"run", "x", "--", "cat"}, .descriptors = {{0, fd}}});
  close(fd);
  EXPECT_EQ(finished.out, "hello\n");
}

TEST_F(RunTest, JsonErrorsComeOnStdoutWhenNothingRan) {
  ASSERT_EQ(run({"acquire", "x", "--ttl", "1h"}).code, 0);
  const auto busy = run_json({"run", "x", "--wait", "0", "--", "echo", "--json"}, 75);
  EXPECT_EQ(busy.at("error").at("code").as_string(), "busy");
}

TEST_F(RunTest, TheLabelIsShown) {
  Running holder = start(Words{"run", "x", "--label", "nightly"} +
                         shell("echo > $D/ready; until [ -e $D/go ]; do sleep 0.01; done"));
  await("ready");
  const auto shown = run_json({"show", "x"});
  EXPECT_EQ(shown.at("holders").as_array().at(0).at("label").as_string(), "nightly");
  EXPECT_EQ(shown.at("holders").as_array().at(0).at("pid").as_int64(), holder.pid());
  write("go", "");
  EXPECT_EQ(holder.wait().code, 0);
}

}  // namespace
}  // namespace holdfast::test
