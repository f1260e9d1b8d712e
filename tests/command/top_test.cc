// `holdfast top`, in a terminal of tmux as people have it, and for scripts.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "tests/command/harness.h"
#include "tests/command/terminal.h"

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

  /// So many writes of a holder that was overtaken.
  void refuse(const std::string& resource, int times) {
    EXPECT_EQ(run({"open", resource, "--token", "9"}).code, 0);
    for (int i = 0; i < times; ++i) {
      EXPECT_EQ(run({"put", resource, "late", "--token", "8"}).code, 78);
    }
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
  EXPECT_EQ(json.at("stale_refusals").as_object().at("total").to_number<int>(), 0);
}

TEST_F(TopTest, OnceTellsWhatWasRefusedAtWhichResource) {
  refuse("config", 1);
  refuse("ledger", 2);
  const Finished text = run({"top", "--once"});
  EXPECT_NE(text.out.find("Refused stale writes and reads: 3 since 2"), std::string::npos)
      << text.out;
  EXPECT_LT(text.out.find(", ledger 2 ("), text.out.find(", config 1 (")) << text.out;
  const auto json = run_json({"top", "--once"});
  const auto& refusals = json.at("stale_refusals").as_object();
  EXPECT_EQ(refusals.at("total").to_number<int>(), 3);
  EXPECT_GT(refusals.at("since_ms").as_int64(), 0);
  const auto& last = refusals.at("resources").as_array().at(0).as_object();
  EXPECT_EQ(last.at("key").as_string(), "ledger");
  EXPECT_EQ(last.at("count").to_number<int>(), 2);
  EXPECT_GE(last.at("last_ms").as_int64(), refusals.at("since_ms").as_int64());
}

TEST_F(TopTest, WhatIsUnderTheKeyOfRefusalsIsNotTakenForThem) {
  ASSERT_EQ(run({"put", "holdfast/refusals", "mine"}).code, 0);
  EXPECT_TRUE(run_json({"top", "--once"}).at("stale_refusals").is_null());
  EXPECT_NE(run({"top", "--once"}).out.find("Refused stale writes and reads: -\n"),
            std::string::npos);
  refuse("ledger", 1);
  EXPECT_EQ(run({"get", "holdfast/refusals"}).out, "mine");
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
  void start_top() {
    terminal_.type_command(engine(), "top --every 50ms");
    terminal_.shows("WAITERS");
  }
  /// Which screen is shown, and whether it has a cursor.
  std::string mode() const {
    return terminal_.tmux("display-message -p '#{alternate_on} #{cursor_flag}'");
  }
  bool alternate_screen() const { return mode() == "1 0\n"; }
  /// The shell is back, echoes what is typed, and the cursor is there.
  void expect_restored() {
    eventually("the shell's screen", [&] { return mode() == "0 1\n"; });
    terminal_.type("echo status-$?-");
    terminal_.shows("status-");
    EXPECT_NE(terminal_.screen().find("echo status"), std::string::npos) << terminal_.screen();
  }

  Terminal terminal_{path("tmux")};
};

TEST_F(TopTerminalTest, ShowsLocksAsTheyComeAndQuitsWithQ) {
  start_top();
  EXPECT_TRUE(alternate_screen());
  EXPECT_TRUE(terminal_.shows("0 locks, 0 contended, 0 waiting"));
  contend();
  EXPECT_TRUE(terminal_.shows("1 locks, 1 contended, 1 waiting"));
  const std::string shown = terminal_.screen();
  EXPECT_NE(shown.find("deploy "), std::string::npos) << shown;
  EXPECT_NE(shown.find("blue"), std::string::npos) << shown;
  EXPECT_NE(shown.find("Refused stale writes and reads: 0"), std::string::npos) << shown;
  terminal_.press("q");
  expect_restored();
  EXPECT_TRUE(terminal_.shows("status-0-"));
}

TEST_F(TopTerminalTest, RefusedStaleWriteAppears) {
  start_top();
  EXPECT_TRUE(terminal_.shows("Refused stale writes and reads: 0"));
  refuse("ledger", 2);
  EXPECT_TRUE(terminal_.shows("Refused stale writes and reads: 2 since "));
  EXPECT_TRUE(terminal_.shows(", ledger 2 ("));
}

TEST_F(TopTerminalTest, FollowsTheSizeOfTheTerminal) {
  contend();
  start_top();
  terminal_.tmux("resize-window -x 40 -y 5");
  eventually("a narrow screen", [&] {
    const std::string shown = terminal_.screen();
    return shown.find("NAME") != std::string::npos && shown.find("HOLDER\n") == std::string::npos;
  });
  terminal_.tmux("resize-window -x 120 -y 20");
  EXPECT_TRUE(terminal_.shows("HOLDER\n"));
}

TEST_F(TopTerminalTest, SignalLeavesTheTerminalAsItWas) {
  start_top();
  terminal_.press("C-c");
  expect_restored();
  EXPECT_TRUE(terminal_.shows("status-130-"));
}

TEST_F(TopTerminalTest, StoppedAndResumedItGivesTheTerminalBackMeanwhile) {
  start_top();
  terminal_.press("C-z");
  expect_restored();
  terminal_.type("fg");
  EXPECT_TRUE(terminal_.shows("WAITERS"));
  EXPECT_TRUE(alternate_screen());
  terminal_.press("q");
  expect_restored();
}

}  // namespace
}  // namespace holdfast::test
