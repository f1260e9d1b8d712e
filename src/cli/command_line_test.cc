#include "cli/command_line.h"

#include <gtest/gtest.h>

namespace holdfast::cli {
namespace {

using Words = std::vector<std::string>;

TEST(CommandLineTest, RunKeepsItsProgramApart) {
  const auto line = split_command_line({"run", "x", "--json", "--", "ls", "--", "--json"});
  EXPECT_EQ(line.arguments, (Words{"run", "x", "--json"}));
  EXPECT_EQ(line.program, (Words{"ls", "--", "--json"}));
}

TEST(CommandLineTest, OptionsBeforeTheCommandDoNotHideIt) {
  const auto line = split_command_line({"--engine", "local:", "--json", "run", "x", "--", "true"});
  EXPECT_EQ(line.program, (Words{"true"}));
}

TEST(CommandLineTest, OtherCommandsKeepTheirDashes) {
  const auto line = split_command_line({"show", "--", "-odd-name"});
  EXPECT_EQ(line.arguments, (Words{"show", "--", "-odd-name"}));
  EXPECT_TRUE(line.program.empty());
}

TEST(CommandLineTest, NegativeValuesStayWithTheirOption) {
  const auto line = split_command_line({"run", "x", "--ttl", "-5s", "--", "cmd", "--n", "-5"});
  EXPECT_EQ(line.arguments, (Words{"run", "x", "--ttl=-5s"}));
  EXPECT_EQ(line.program, (Words{"cmd", "--n", "-5"}));
}

TEST(CommandLineTest, NegativeValuesAreNotTiedToFlags) {
  const Words words{"put", "k", "--json", "-5"};
  EXPECT_EQ(split_command_line(words).arguments, words);
}

TEST(CommandLineTest, EveryCommandThatRunsAProgramKeepsItApart) {
  for (const char* command : {"run", "update", "once"}) {
    const auto line = split_command_line({command, "k", "--", "cat", "-n"});
    EXPECT_EQ(line.arguments, (Words{command, "k"}));
    EXPECT_EQ(line.program, (Words{"cat", "-n"}));
  }
}

TEST(CommandLineTest, JsonIsSeenBeforeTheDashesOnly) {
  EXPECT_TRUE(asks_for_json({"ls", "--json"}));
  EXPECT_FALSE(asks_for_json({"show", "--", "--json"}));
}

}  // namespace
}  // namespace holdfast::cli
