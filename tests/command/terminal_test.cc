// `holdfast leader --watch` and `holdfast advise` in a terminal of tmux, as people have it. `top`
// has top_test.cc.

#include "tests/command/terminal.h"

#include <gtest/gtest.h>

#include <csignal>

#include "tests/command/harness.h"

namespace holdfast::test {
namespace {

class TerminalTest : public CommandTest {
 protected:
  Running candidate(const std::string& id) {
    return start(Words{"elect", "billing", "--id", id, "--value", "address-of-" + id} +
                 shell("echo > $D/" + id + "; exec sleep 600"));
  }

  /// The command ended with this code, and the shell is back.
  void expect_ended(const std::string& code) {
    terminal_.type("echo status-$?-");
    EXPECT_TRUE(terminal_.shows("status-" + code + "-"));
  }

  Terminal terminal_{path("tmux")};
};

TEST_F(TerminalTest, WatchOfALeaderShowsEveryChangeAsItHappens) {
  terminal_.type_command(engine(), "leader billing --watch");
  EXPECT_TRUE(terminal_.shows("nobody leads"));
  Running anna = candidate("anna");
  EXPECT_TRUE(terminal_.shows("anna  address-of-anna  epoch "));
  await("anna");
  Running bert = candidate("bert");
  await_waiters("billing", 1);
  EXPECT_EQ(terminal_.screen().find("bert"), std::string::npos) << terminal_.screen();
  anna.signal(SIGTERM);
  EXPECT_TRUE(terminal_.shows("bert  address-of-bert  epoch "));
  const std::string shown = terminal_.screen();
  EXPECT_LT(shown.find("anna  address"), shown.find("bert  address")) << shown;
  terminal_.press("C-c");
  expect_ended("130");
}

TEST_F(TerminalTest, AdviceIsReadableInATerminal) {
  terminal_.tmux("resize-window -x 100 -y 40");
  terminal_.type_command(engine(), "advise deploy");
  EXPECT_TRUE(terminal_.shows("nothing was measured of 'deploy' yet"));
  expect_ended("66");
  for (int i = 0; i < 3; ++i) ASSERT_EQ(run({"run", "deploy", "--measure", "--", "true"}).code, 0);
  terminal_.type("clear");
  terminal_.type_command(engine(), "advise deploy");
  for (const char* part :
       {"held     3 samples", "waited   3 samples", "had to wait: 0 of 3", "ttl ", "--ttl "}) {
    EXPECT_TRUE(terminal_.shows(part)) << terminal_.screen();
  }
  const std::string shown = terminal_.screen();
  EXPECT_EQ(shown.find('\x1b'), std::string::npos) << shown;
  EXPECT_EQ(shown.find("[0m"), std::string::npos) << "colours that the terminal did not take";
  expect_ended("0");
}

}  // namespace
}  // namespace holdfast::test
