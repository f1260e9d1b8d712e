#include "base/decimal.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace holdfast {
namespace {

TEST(DecimalTest, ReadsWholeNumbers) {
  EXPECT_EQ(parse_decimal<std::uint64_t>("18446744073709551615"), 18446744073709551615U);
  EXPECT_EQ(parse_decimal<std::int64_t>("-5"), -5);
}

TEST(DecimalTest, RefusesAnythingElse) {
  for (const std::string_view text : {"", " 1", "1 ", "1.0", "1e3", "0x1", "+1", "-1", "x"}) {
    EXPECT_FALSE(parse_decimal<std::uint32_t>(text)) << text;
  }
  EXPECT_FALSE(parse_decimal<std::uint32_t>("4294967296"));
}

}  // namespace
}  // namespace holdfast
