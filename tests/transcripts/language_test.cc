// The language of transcripts: what it refuses, and that a wrong outcome does not go unnoticed.

#include <gtest/gtest.h>

#include "tests/transcripts/difference.h"
#include "tests/transcripts/performance.h"
#include "tests/transcripts/words.h"

namespace holdfast::transcripts {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kEngine = "engine redlock nodes=3 clients=alice,bob\n";

std::string error_of(const std::string& text) {
  const auto played = play(text);
  return played ? "none" : played.error().message;
}

/// What is said of a command in the second line.
std::string complaint(const std::string& command) {
  return error_of(std::string{kEngine} + command + "\n----\n");
}

TEST(LanguageTest, AnOutcomeThatIsRightStaysAsItIs) {
  const std::string text =
      "# Prose.\n"
      "engine redlock nodes=3 clients=alice\n"
      "acquire alice ledger ttl=10s\n"
      "----\n"
      "  0.001s  n1 n2 n3: alice#1 gets ledger with grant 1\n"
      "  0.002s  alice holds ledger: token 1, valid for 9.896s\n"
      "\n"
      "# More prose.\n";
  const auto played = play(text);
  ASSERT_TRUE(played) << played.error().message;
  EXPECT_EQ(*played, text);
  EXPECT_EQ(difference(text, *played), "");
}

TEST(LanguageTest, AnOutcomeThatIsWrongIsNoticed) {
  const std::string text =
      "engine redlock nodes=3 clients=alice\n"
      "acquire alice ledger ttl=10s\n"
      "----\n"
      "  0.001s  n1 n2 n3: alice#1 gets ledger with grant 1\n"
      "  0.002s  alice holds ledger: token 2, valid for 9.896s\n";
  const auto played = play(text);
  ASSERT_TRUE(played) << played.error().message;
  EXPECT_EQ(difference(text, *played),
            "5 -  0.002s  alice holds ledger: token 2, valid for 9.896s\n"
            "6 +  0.002s  alice holds ledger: token 1, valid for 9.896s\n");
}

TEST(LanguageTest, DifferencesAreLinesThatOnlyOneHas) {
  EXPECT_EQ(difference("a\nb\nc\n", "a\nc\n"), "2 -b\n");
  EXPECT_EQ(difference("a\nc\n", "a\nb\nc\n"), "2 +b\n");
  EXPECT_EQ(difference("", "a\n"), "1 +a\n");
}

TEST(LanguageTest, ErrorsNameTheLine) {
  EXPECT_EQ(complaint("aquire alice ledger"), "2: there is no command 'aquire'");
  EXPECT_EQ(complaint("acquire alice ledger"), "2: 'ttl=' is missing");
  EXPECT_EQ(complaint("acquire alice ledger ttl=soon"),
            "2: 'soon' is no time such as 10s, 200ms or 2min");
  EXPECT_EQ(complaint("acquire carol ledger ttl=1s"), "2: there is no client 'carol'");
  EXPECT_EQ(complaint("acquire alice ledger ttl=1s ttl=2s"), "2: 'ttl' is given twice");
  EXPECT_EQ(complaint("pause alice for=1s"), "2: there is no option 'for='; usage: pause CLIENT");
  EXPECT_EQ(complaint("pause alice bob"), "2: 'bob' is one word too many; usage: pause CLIENT");
  EXPECT_EQ(complaint("stop n4"), "2: there is no node 'n4'");
  EXPECT_EQ(complaint("release alice ledger"), "2: alice has had no lease of 'ledger'");
  EXPECT_EQ(complaint("crash alice\nacquire alice ledger ttl=1s"), "3: alice has crashed");
  EXPECT_EQ(complaint("start lost"), "2: which node?");
  EXPECT_EQ(complaint("cut -> n1"), "2: between whom?");
  EXPECT_EQ(complaint("advance -1s"), "2: time goes forward");
  EXPECT_EQ(complaint("rate n1 fast"), "2: 'fast' is no rate such as +5%, at most 50%");
  EXPECT_EQ(complaint("rate n1 -51%"), "2: '-51%' is no rate such as +5%, at most 50%");
}

TEST(LanguageTest, AFileHasItsShape) {
  EXPECT_EQ(error_of("advance 1s\n----\n"), "1: the first command is 'engine'");
  EXPECT_EQ(error_of("engine paxos clients=alice\n----\n"), "1: there is no engine 'paxos'");
  EXPECT_EQ(error_of("# Prose.\n----\n"), "2: there is no command before this line");
  EXPECT_EQ(error_of(std::string{kEngine}),
            "1: these commands have no outcome: end them with a line ----");
  EXPECT_EQ(error_of(std::string{kEngine} + "\nadvance 1s\n----\n"),
            "2: these commands have no outcome: end them with a line ----");
}

TEST(LanguageTest, TimesAreSpelledInSeconds) {
  EXPECT_EQ(in_seconds(9'896ms), "9.896s");
  EXPECT_EQ(in_seconds(-20ms), "-0.020s");
  EXPECT_EQ(parse_time("-3s").value(), Duration{-3s});
  EXPECT_EQ(parse_time("+200ms").value(), Duration{200ms});
  EXPECT_FALSE(parse_time("3"));
}

}  // namespace
}  // namespace holdfast::transcripts
