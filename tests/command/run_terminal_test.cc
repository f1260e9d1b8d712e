// `holdfast run` at a terminal: the program can be typed at, interrupted, stopped and resumed.

#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <csignal>

#include "tests/command/harness.h"

namespace holdfast::test {
namespace {

class RunTerminalTest : public CommandTest {
 protected:
  void SetUp() override {
    ASSERT_EQ(openpty(&keyboard_, &terminal_, nullptr, nullptr, nullptr), 0);
  }

  void TearDown() override {
    close(keyboard_);
    close(terminal_);
  }

  Running start_at_terminal(std::vector<std::string> arguments) {
    return start(Launch{.arguments = std::move(arguments), .terminal = terminal_});
  }

  void type(std::string_view text) const {
    ASSERT_EQ(::write(keyboard_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

  pid_t foreground() const { return tcgetpgrp(keyboard_); }

  int keyboard_{-1};
  int terminal_{-1};
};

TEST_F(RunTerminalTest, TheProgramReadsWhatIsTyped) {
  Running holder = start_at_terminal(Words{"run", "x"} + shell("echo > $D/ready; read line; "
                                                               "echo \"$line\" > $D/line"));
  await("ready");
  type("hello\n");
  EXPECT_EQ(holder.wait().code, 0);
  EXPECT_EQ(read("line"), "hello\n");
}

TEST_F(RunTerminalTest, TheProgramsGroupIsInTheForeground) {
  Running holder = start_at_terminal(Words{"run", "x"} + shell("echo $$ > $D/pid; read line"));
  const pid_t pid = std::stoi(await("pid"));
  EXPECT_EQ(foreground(), pid);
  type("\n");
  EXPECT_EQ(holder.wait().code, 0);
}

TEST_F(RunTerminalTest, ControlCInterruptsTheProgram) {
  Running holder =
      start_at_terminal(Words{"run", "x"} + shell("trap 'exit 42' INT; echo > $D/ready; "
                                                  "while :; do sleep 0.01; done"));
  await("ready");
  type("\x03");
  EXPECT_EQ(holder.wait().code, 42);
}

TEST_F(RunTerminalTest, ControlZStopsTheJobAndItCanBeResumed) {
  Running holder =
      start_at_terminal(Words{"run", "x", "--ttl", "1h"} +
                        shell("echo $$ > $D/pid; read line; echo \"$line\" > $D/line"));
  const pid_t pid = std::stoi(await("pid"));
  type("\x1a");
  holder.await_stop();
  EXPECT_EQ(foreground(), holder.pid()) << "the shell's job has the terminal again";
  holder.signal(SIGCONT);
  eventually("the program's turn at the terminal", [&] { return foreground() == pid; });
  type("again\n");
  EXPECT_EQ(holder.wait().code, 0);
  EXPECT_EQ(read("line"), "again\n");
}

TEST_F(RunTerminalTest, ControlCEndsTheWaiting) {
  ASSERT_EQ(run({"acquire", "x", "--ttl", "1h"}).code, 0);
  Running waiter = start_at_terminal({"run", "x", "--", "true"});
  await_waiters("x", 1);
  type("\x03");
  EXPECT_EQ(waiter.wait().code, 130);
}

// With stdout piped away the program starts in the background, and gets the terminal by asking.
TEST_F(RunTerminalTest, AProgramInAPipelineGetsTheTerminalWhenItReads) {
  Running holder =
      start(Launch{.arguments = Words{"run", "x"} +
                                shell("echo > $D/ready; read line; echo \"$line\" > $D/line"),
                   .descriptors = {{1, open_output("piped")}},
                   .terminal = terminal_});
  await("ready");
  type("typed\n");
  EXPECT_EQ(holder.wait().code, 0);
  EXPECT_EQ(read("line"), "typed\n");
}

TEST_F(RunTerminalTest, ColourIsForTerminalsOnly) {
  ASSERT_EQ(run({"acquire", "x", "--ttl", "1h"}).code, 0);
  EXPECT_EQ(run(Launch{.arguments = {"ls"}, .environment = {{"TERM", "xterm"}}}).out.find('\x1b'),
            std::string::npos);
  const auto at_terminal = [&](std::map<std::string, std::string> environment) {
    environment.emplace("TERM", "xterm");
    Running ls = start(
        Launch{.arguments = {"ls"}, .environment = std::move(environment), .terminal = terminal_});
    EXPECT_EQ(ls.wait().code, 0);
    std::string text(4096, '\0');
    const ssize_t size = ::read(keyboard_, text.data(), text.size());
    text.resize(size > 0 ? size : 0);
    return text;
  };
  EXPECT_NE(at_terminal({}).find('\x1b'), std::string::npos);
  EXPECT_EQ(at_terminal({{"NO_COLOR", "1"}}).find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace holdfast::test
