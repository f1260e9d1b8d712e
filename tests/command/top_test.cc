// `holdfast top`, in a terminal of tmux as people have it, and for scripts.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>

#include "tests/command/harness.h"

namespace holdfast::test {
namespace {

class TopTest : public CommandTest {
 protected:
  /// Held by one, waited for by another, until the test ends.
  void contend() {
    holders_.push_back(start(Words{"run", "deploy", "--label", "blue"} +
                             shell("echo > $D/ready; while :; do sleep 1; done")));
    await("ready");
    holders_.push_back(start({"run", "deploy", "--", "true"}));
    await_waiters("deploy", 1);
  }

  std::vector<Running> holders_;
};

TEST_F(TopTest, OnceTellsWhoHoldsAndWhoWaits) {
  contend();
  const Finished text = run({"top", "--once"});
  EXPECT_EQ(text.code, 0);
  EXPECT_NE(text.out.find("1 locks, 1 contended, 1 waiting"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("\"blue\""), std::string::npos) << text.out;
  EXPECT_EQ(text.out.find('\x1b'), std::string::npos);
  const auto json = run_json({"top", "--once"});
  const auto& lock = json.at("locks").as_array().at(0).as_object();
  EXPECT_EQ(lock.at("name").as_string(), "deploy");
  EXPECT_EQ(lock.at("holders").as_array().size(), 1u);
  EXPECT_EQ(lock.at("waiters").as_array().size(), 1u);
  EXPECT_TRUE(json.at("stale_refusals").is_null());
}

TEST_F(TopTest, JsonIsOneObjectPerLookUntilInterrupted) {
  contend();
  const int out = open_output("looks");
  Running top = start(Launch{.arguments = {"top", "--json", "--every", "50ms"},
                             .descriptors = {{STDOUT_FILENO, out}}});
  eventually("several looks", [&] { return read_lines("looks").size() >= 3; });
  top.signal(SIGINT);
  EXPECT_EQ(top.wait().code, 128 + SIGINT);
  for (const std::string& line : read_lines("looks")) {
    EXPECT_EQ(parse_object(line).at("locks").as_array().size(), 1u);
  }
}

TEST_F(TopTest, WithoutATerminalItSaysWhatToDo) {
  const Finished finished = run({"top"});
  EXPECT_EQ(finished.code, 65);
  EXPECT_NE(finished.err.find("--once"), std::string::npos);
}

class TopTerminalTest : public TopTest {
 protected:
  void SetUp() override {
    // A shell in a terminal of 100 columns and 12 lines, with a server of the test's own.
    tmux("-f /dev/null new-session -d -x 100 -y 12 'PS1=ready: exec sh -i'");
    eventually("a shell", [&] { return screen().find("ready:") != std::string::npos; });
  }
  void TearDown() override { tmux("kill-server"); }

  std::string tmux(const std::string& arguments) const {
    const std::string command = "tmux -S " + path("tmux") + " " + arguments + " 2>&1";
    std::string said;
    std::FILE* const pipe = popen(command.c_str(), "r");
    std::array<char, 4096> part{};
    while (std::fgets(part.data(), part.size(), pipe) != nullptr) said += part.data();
    pclose(pipe);
    return said;
  }
  std::string screen() const { return tmux("capture-pane -p"); }
  void type(const std::string& line) const { tmux("send-keys '" + line + "' Enter"); }
  void start_top() {
    type(std::string{HOLDFAST_COMMAND_PATH} + " --engine " + engine() + " top --every 50ms");
    shows("WAITERS");
  }
  bool shows(const std::string& text) const {
    return eventually(text, [&] { return screen().find(text) != std::string::npos; });
  }
  bool alternate_screen() const {
    return tmux("display-message -p '#{alternate_on} #{cursor_flag}'") == "1 0\n";
  }
  /// The shell is back, echoes what is typed, and the cursor is there.
  void expect_restored() {
    eventually("the shell's screen", [&] {
      return tmux("display-message -p '#{alternate_on} #{cursor_flag}'") == "0 1\n";
    });
    type("echo status-$?-");
    shows("status-");
    EXPECT_NE(screen().find("echo status"), std::string::npos) << screen();
  }
};

TEST_F(TopTerminalTest, ShowsLocksAsTheyComeAndQuitsWithQ) {
  start_top();
  EXPECT_TRUE(alternate_screen());
  EXPECT_TRUE(shows("0 locks, 0 contended, 0 waiting"));
  contend();
  EXPECT_TRUE(shows("1 locks, 1 contended, 1 waiting"));
  const std::string shown = screen();
  EXPECT_NE(shown.find("deploy "), std::string::npos) << shown;
  EXPECT_NE(shown.find("blue"), std::string::npos) << shown;
  EXPECT_NE(shown.find("stale writes"), std::string::npos) << shown;
  tmux("send-keys q");
  expect_restored();
  EXPECT_TRUE(shows("status-0-"));
}

TEST_F(TopTerminalTest, FollowsTheSizeOfTheTerminal) {
  contend();
  start_top();
  tmux("resize-window -x 40 -y 5");
  eventually("a narrow screen", [&] {
    const std::string shown = screen();
    return shown.find("NAME") != std::string::npos && shown.find("HOLDER\n") == std::string::npos;
  });
  tmux("resize-window -x 120 -y 20");
  EXPECT_TRUE(shows("HOLDER\n"));
}

TEST_F(TopTerminalTest, SignalLeavesTheTerminalAsItWas) {
  start_top();
  tmux("send-keys C-c");
  expect_restored();
  EXPECT_TRUE(shows("status-130-"));
}

TEST_F(TopTerminalTest, StoppedAndResumedItGivesTheTerminalBackMeanwhile) {
  start_top();
  tmux("send-keys C-z");
  expect_restored();
  type("fg");
  EXPECT_TRUE(shows("WAITERS"));
  EXPECT_TRUE(alternate_screen());
  tmux("send-keys q");
  expect_restored();
}

}  // namespace
}  // namespace holdfast::test
