#include "cli/text.h"

#include <gtest/gtest.h>

#include <vector>

namespace holdfast::cli {
namespace {

TEST(TextTest, BrokenBytesBecomeReplacementCharacters) {
  EXPECT_EQ(to_utf8("gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f");
  EXPECT_EQ(to_utf8("a\xff"
                    "b"),
            "a\xef\xbf\xbd"
            "b");
  EXPECT_EQ(to_utf8("\xc3"), "\xef\xbf\xbd");
  EXPECT_EQ(to_utf8("\xc0\xaf"), "\xef\xbf\xbd\xef\xbf\xbd") << "overlong";
  EXPECT_EQ(to_utf8("\xed\xa0\x80").substr(0, 3), "\xef\xbf\xbd") << "surrogate";
}

TEST(TextTest, Utf8IsToldFromOtherBytes) {
  EXPECT_TRUE(is_utf8("gr\xc3\xbc\xc3\x9f\n"));
  EXPECT_TRUE(is_utf8(""));
  EXPECT_FALSE(is_utf8("a\xff"));
  EXPECT_FALSE(is_utf8("\xc3"));
}

TEST(TextTest, ControlCharactersCannotReachATerminal) {
  EXPECT_EQ(printable("a\x1b[31mb\n"), "a\\x1b[31mb\\x0a");
  EXPECT_EQ(printable("\xc2\x9b"), "\\x9b") << "eight-bit control sequence introducer";
  EXPECT_TRUE(is_printable("nightly build \xe2\x9c\x93"));
  EXPECT_FALSE(is_printable("a\nb"));
  EXPECT_FALSE(is_printable("a\xff"));
}

TEST(TextTest, NearMissesAreFound) {
  const std::vector<std::string> options{"--ttl", "--wait", "--shared", "--permits", "--engine"};
  EXPECT_EQ(nearest("--tll", options), "--ttl");
  EXPECT_EQ(nearest("--share", options), "--shared");
  EXPECT_EQ(nearest("--permit", options), "--permits");
  EXPECT_EQ(nearest("--wiat", options), "--wait");
  EXPECT_EQ(nearest("--zzzzzz", options), "");
}

}  // namespace
}  // namespace holdfast::cli
