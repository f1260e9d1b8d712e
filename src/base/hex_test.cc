#include "base/hex.h"

#include <gtest/gtest.h>

namespace holdfast {
namespace {

TEST(HexTest, PrintsLowerCaseAndReadsBothCases) {
  const std::vector<std::uint8_t> bytes{0x00, 0x7f, 0xab, 0xff};
  EXPECT_EQ(to_hex(bytes), "007fabff");
  EXPECT_EQ(from_hex("007fabff"), bytes);
  EXPECT_EQ(from_hex("007FABff"), bytes);
}

TEST(HexTest, NothingIsNothing) {
  EXPECT_EQ(to_hex({}), "");
  EXPECT_EQ(from_hex(""), std::vector<std::uint8_t>{});
}

TEST(HexTest, RefusesOddLengthsAndOtherCharacters) {
  EXPECT_FALSE(from_hex("abc"));
  EXPECT_FALSE(from_hex("0g"));
  EXPECT_FALSE(from_hex("g0"));
  EXPECT_FALSE(from_hex(" 0"));
  EXPECT_FALSE(from_hex("0x"));
}

}  // namespace
}  // namespace holdfast
