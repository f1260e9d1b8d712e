// Signals and process groups under `holdfast run`.

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "tests/command/harness.h"

namespace holdfast::test {
namespace {

struct Signal {
  int number;
  const char* name;
};

class RunSignalsTest : public CommandTest {
 protected:
  static constexpr const char* kReady = "echo $$ > $D/pid; while :; do sleep 0.01; done";
};

class PassedSignalTest : public CommandTest, public testing::WithParamInterface<Signal> {};

TEST_P(PassedSignalTest, ReachesTheProgram) {
  const std::string name = GetParam().name;
  // Not a foreground `sleep`: a shell runs its traps only when that has ended, and TSTP stops it.
  const std::string trap = "trap 'echo " + name + " > $D/got; exit 7' " + name;
  Running holder = start(Words{"run", "x"} + shell(trap + "; sleep 1000 & echo $$ > $D/pid; wait"));
  await("pid");
  holder.signal(GetParam().number);
  EXPECT_EQ(await("got"), name + "\n");
  EXPECT_EQ(holder.wait().code, 7);
}

INSTANTIATE_TEST_SUITE_P(All,
                         PassedSignalTest,
                         testing::Values(Signal{SIGINT, "INT"},
                                         Signal{SIGTERM, "TERM"},
                                         Signal{SIGHUP, "HUP"},
                                         Signal{SIGQUIT, "QUIT"},
                                         Signal{SIGUSR1, "USR1"},
                                         Signal{SIGUSR2, "USR2"},
                                         Signal{SIGWINCH, "WINCH"},
                                         Signal{SIGCONT, "CONT"},
                                         Signal{SIGTSTP, "TSTP"}),
                         [](const auto& given) { return std::string{given.param.name}; });

TEST_F(RunSignalsTest, ASignalThatEndsTheProgramShowsInTheCode) {
  Running holder = start(Words{"run", "x"} + shell(kReady));
  await("pid");
  holder.signal(SIGTERM);
  const Finished finished = holder.wait();
  EXPECT_EQ(finished.code, 143);
  EXPECT_FALSE(finished.signalled);
}

TEST_F(RunSignalsTest, TheWholeGroupGetsTheSignal) {
  Running holder = start(Words{"run", "x"} + shell("sleep 1000 & echo $! > $D/other; "
                                                   "echo $$ > $D/pid; wait"));
  await("pid");
  const pid_t other = std::stoi(read("other"));
  EXPECT_EQ(getpgid(other), std::stoi(read("pid")));
  EXPECT_NE(getpgid(other), getpgid(holder.pid()));
  holder.signal(SIGTERM);
  EXPECT_EQ(holder.wait().code, 143);
  EXPECT_FALSE(process_exists(other));
}

TEST_F(RunSignalsTest, ASignalEndsTheWaiting) {
  ASSERT_EQ(run({"acquire", "x", "--ttl", "1h"}).code, 0);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    Running waiter = start({"run", "x", "--", "touch", path("ran")});
    await_waiters("x", 1);
    waiter.signal(signal);
    EXPECT_EQ(waiter.wait().code, 128 + signal);
    await_waiters("x", 0);
  }
  EXPECT_FALSE(exists("ran"));
}

TEST_F(RunSignalsTest, SignalsTheUserIgnoresStayIgnored) {
  std::signal(SIGHUP, SIG_IGN);
  Running holder = start(Words{"run", "x"} + shell("echo $$ > $D/pid; until [ -e $D/go ]; do "
                                                   "sleep 0.01; done; exit 3"));
  std::signal(SIGHUP, SIG_DFL);
  await("pid");
  holder.signal(SIGHUP);
  write("go", "");
  EXPECT_EQ(holder.wait().code, 3);
}

TEST_F(RunSignalsTest, ProgramsStartWithTheSignalsTheUserHad) {
  const Finished finished =
      run({"run", "x", "--", "grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"});
  EXPECT_NE(finished.out.find("SigBlk:\t0000000000000000"), std::string::npos) << finished.out;
  EXPECT_NE(finished.out.find("SigIgn:\t0000000000000000"), std::string::npos) << finished.out;
}

TEST_F(RunSignalsTest, AStoppedJobGoesOnWhenContinued) {
  // A loop that starts no program: a shell that is stopped while it starts one by vfork never says
  // that it has stopped.
  Running holder = start(Words{"run", "x", "--ttl", "1h"} +
                         shell("echo $$ > $D/pid; until [ -e $D/go ]; do :; done; exit 5"));
  await("pid");
  holder.signal(SIGTSTP);
  holder.await_stop();
  write("go", "");
  holder.signal(SIGCONT);
  EXPECT_EQ(holder.wait().code, 5);
}

TEST_F(RunSignalsTest, ChildSignalIgnoredByTheParentDoesNotHideTheCode) {
  const Finished finished = [&] {
    std::signal(SIGCHLD, SIG_IGN);
    Running running = start(Words{"run", "x"} + shell("exit 9"));
    std::signal(SIGCHLD, SIG_DFL);
    return running.wait();
  }();
  EXPECT_EQ(finished.code, 9);
}

}  // namespace
}  // namespace holdfast::test
