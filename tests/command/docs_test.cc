// What the command says about itself: help, man page and completions agree.

#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "tests/command/harness.h"

namespace holdfast::test {
namespace {

const std::vector<std::string> kCommands{
    "run",   "elect",   "leader",   "acquire", "renew",           "release",   "ls",
    "show",  "watch",   "top",      "advise",  "break",           "open",      "get",
    "put",   "erase",   "check",    "update",  "check-sequencer", "once",      "limit",
    "store", "bench",   "redlock",  "install", "completion",      "uninstall", "doctor",
    "lab",   "upgrade", "downgrade"};

std::set<std::string> options_in(const std::string& text) {
  static const std::regex option{"--[a-z][a-z-]*"};
  std::set<std::string> found;
  for (std::sregex_iterator it{text.begin(), text.end(), option}, end; it != end; ++it) {
    found.insert(it->str());
  }
  return found;
}

class DocsTest : public CommandTest {
 protected:
  std::string help(const std::vector<std::string>& arguments) {
    const Finished finished = run(arguments + Words{"--help"});
    EXPECT_EQ(finished.code, 0);
    EXPECT_EQ(finished.err, "");
    return finished.out;
  }

  std::set<std::string> every_option() {
    std::set<std::string> options = options_in(help({}));
    for (const std::string& command : kCommands) options.merge(options_in(help({command})));
    options.merge(options_in(help({"store", "rebase"})));
    options.merge(options_in(help({"bench", "compare"})));
    for (const char* action : {"init", "rejoin"}) {
      options.merge(options_in(help({"redlock", action})));
    }
    for (const char* command : {"install", "uninstall"}) {
      options.merge(options_in(help({command, "postgres"})));
    }
    for (const char* demonstration : {"pause", "naive", "bank", "sim", "quorum"}) {
      options.merge(options_in(help({"lab", demonstration})));
    }
    return options;
  }

  static std::string man_page() {
    std::ostringstream text;
    text << std::ifstream{HOLDFAST_MAN_PAGE}.rdbuf();
    // The page writes a dash that is to be typed as \-.
    return std::regex_replace(text.str(), std::regex{R"(\\-)"}, "-");
  }
};

TEST_F(DocsTest, HelpListsEveryCommandAndEachHasExamples) {
  const std::string general = help({});
  for (const std::string& command : kCommands) {
    EXPECT_NE(general.find("\n  " + command + " "), std::string::npos) << command;
    const std::string text = help({command});
    EXPECT_NE(text.find("holdfast " + command), std::string::npos) << text;
    EXPECT_NE(text.find("Examples:\n  "), std::string::npos) << text;
  }
  EXPECT_NE(general.find("Examples:\n  "), std::string::npos);
}

TEST_F(DocsTest, TheVersionIsPrinted) {
  const Finished finished = run({"--version"});
  EXPECT_EQ(finished.code, 0);
  EXPECT_TRUE(std::regex_match(finished.out, std::regex{"holdfast \\d+\\.\\d+\\.\\d+\n"}))
      << finished.out;
  EXPECT_TRUE(run_json({"--version"}).contains("version"));
}

TEST_F(DocsTest, TheManPageHasEveryCommandAndOption) {
  const std::string page = man_page();
  ASSERT_FALSE(page.empty());
  for (const std::string& command : kCommands) {
    EXPECT_NE(page.find("holdfast " + command), std::string::npos) << command;
  }
  const auto documented = options_in(page);
  for (const std::string& option : every_option()) {
    EXPECT_TRUE(documented.contains(option)) << option;
  }
}

TEST_F(DocsTest, TheManPageHasNothingElse) {
  const auto known = every_option();
  for (const std::string& option : options_in(man_page())) {
    EXPECT_TRUE(known.contains(option)) << option;
  }
}

TEST_F(DocsTest, TheManPageHasEveryExitCode) {
  const std::string page = man_page();
  for (const int code : {64, 65, 66, 69, 70, 74, 75, 76, 77, 78, 79, 126, 127}) {
    EXPECT_NE(page.find("\n.B " + std::to_string(code) + "\n"), std::string::npos) << code;
  }
}

class CompletionTest : public DocsTest, public testing::WithParamInterface<const char*> {};

TEST_P(CompletionTest, KnowsEveryCommandAndOption) {
  const Finished finished = run({"completion", GetParam()});
  EXPECT_EQ(finished.code, 0);
  for (const std::string& command : kCommands) {
    EXPECT_NE(finished.out.find(command), std::string::npos) << command;
  }
  const auto offered = options_in(finished.out);
  for (const std::string& option : every_option()) {
    EXPECT_TRUE(offered.contains(option)) << option;
  }
}

INSTANTIATE_TEST_SUITE_P(Shells,
                         CompletionTest,
                         testing::Values("bash", "zsh"),
                         [](const auto& given) { return std::string{given.param}; });

TEST_F(DocsTest, BashCompletes) {
  write("script", run({"completion", "bash"}).out);
  ASSERT_EQ(run({"acquire", "reports"}).code, 0);
  const std::string try_out =
      ". $D/script; holdfast() { " + std::string{HOLDFAST_COMMAND_PATH} + " \"$@\"; }; " +
      "try() { COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _holdfast; "
      "echo \"${COMPREPLY[*]}\"; }; "
      "try holdfast acq; try holdfast run --st; try holdfast show rep; try holdfast run x --wait "
      "f; "
      "try holdfast put k --if; try holdfast once k --on-failure r; try holdfast store reb";
  const Finished finished = run({"run", "x", "--", "bash", "-c", try_out});
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(finished.out, "acquire\n--status-fd\nreports\nforever\n--if-version\nretry\nrebase\n");
}

}  // namespace
}  // namespace holdfast::test
