// `holdfast run` while its lease is renewed, broken, or outlived by what the program left behind.

#include <gtest/gtest.h>

#include <csignal>

#include "tests/command/harness.h"

namespace holdfast::test {
namespace {

class RunUnderLossTest : public CommandTest {};

TEST_F(RunUnderLossTest, TheLeaseIsRenewedForManyTtls) {
  Running holder =
      start(Words{"run", "x", "--ttl", "200ms"} + shell("echo > $D/ready; sleep 2; echo done"));
  await("ready");
  Running follower = start({"run", "x", "--", "true"});
  await_waiters("x", 1);
  const Finished finished = holder.wait();
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(finished.out, "done\n");
  EXPECT_EQ(follower.wait().code, 0);
}

TEST_F(RunUnderLossTest, ABrokenLeaseEndsTheProgram) {
  Running holder = start(Words{"run", "x", "--ttl", "1s"} +
                         shell("echo $$ > $D/pid; while :; do sleep 0.01; done"));
  const pid_t pid = std::stoi(await("pid"));
  const auto broken = run_json({"break", "x", "--why", "test"});
  EXPECT_EQ(broken.at("holders").as_array().at(0).at("pid").as_int64(), holder.pid());
  const Finished finished = holder.wait();
  EXPECT_EQ(finished.code, 76);
  EXPECT_NE(finished.err.find("the lease on 'x'"), std::string::npos) << finished.err;
  EXPECT_FALSE(process_exists(pid));
}

TEST_F(RunUnderLossTest, ALeaseBrokenUnnoticedIsReportedAtTheEnd) {
  Running holder = start(Words{"run", "x", "--ttl", "1h"} +
                         shell("echo > $D/ready; until [ -e $D/go ]; do sleep 0.01; done"));
  await("ready");
  EXPECT_EQ(run({"break", "x"}).code, 0);
  write("go", "");
  EXPECT_EQ(holder.wait().code, 76);
}

// Goal: the lock is not released while anything of the program's group is left.
TEST_F(RunUnderLossTest, WhatTheProgramLeftBehindIsEndedBeforeTheRelease) {
  Running holder = start(
      Words{"run", "x", "--grace", "300ms"} +
      shell("(trap 'echo asked > $D/asked' TERM; echo > $D/ready; while :; do sleep 0.01; done) & "
            "echo $! > $D/left; until [ -e $D/ready ]; do sleep 0.01; done; exit 6"));
  await("left");
  Running follower =
      start(Words{"run", "x"} + shell("if kill -0 $(cat $D/left) 2>/dev/null; then echo overlap; "
                                      "else echo alone; fi > $D/followed"));
  EXPECT_EQ(holder.wait().code, 6);
  EXPECT_EQ(follower.wait().code, 0);
  EXPECT_EQ(read("followed"), "alone\n");
  EXPECT_EQ(read("asked"), "asked\n");
}

TEST_F(RunUnderLossTest, ADaemonThatLeftTheGroupDoesNotHoldTheLock) {
  const Finished finished = run(
      Words{"run", "x"} + shell("setsid sh -c 'echo $$ > $D/daemon; until [ -e $D/go ]; do "
                                "sleep 0.01; done' & until [ -s $D/daemon ]; do sleep 0.01; done"));
  EXPECT_EQ(finished.code, 0);
  const pid_t daemon = std::stoi(read("daemon"));
  EXPECT_TRUE(process_exists(daemon));
  EXPECT_EQ(run({"run", "x", "--wait", "0", "--", "true"}).code, 0);
  write("go", "");
  eventually("the end of the daemon", [&] { return !process_exists(daemon); });
}

}  // namespace
}  // namespace holdfast::test
