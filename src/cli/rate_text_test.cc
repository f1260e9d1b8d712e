#include "cli/rate_text.h"

#include <gtest/gtest.h>

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

TEST(RateTextTest, ARateIsANumberInATime) {
  const auto is = [](std::string_view text, std::uint64_t permits, Duration per) {
    const auto rate = parse_rate(text);
    return rate && rate->permits == permits && rate->per == per;
  };
  EXPECT_TRUE(is("10/s", 10, 1s));
  EXPECT_TRUE(is("100/m", 100, 1min));
  EXPECT_TRUE(is("5/h", 5, 1h));
  EXPECT_TRUE(is("1/d", 1, 24h));
  EXPECT_TRUE(is("3/10s", 3, 10s));
  EXPECT_TRUE(is("1/1.5s", 1, 1500ms));
}

TEST(RateTextTest, AnythingElseIsRefusedWithAnExample) {
  for (const char* text :
       {"", "10", "/s", "10/", "s/10", "-1/s", "1.5/s", "10/x", "10/s/s", "10 /s", "10/-1s"}) {
    const auto rate = parse_rate(text);
    ASSERT_FALSE(rate) << text;
    EXPECT_EQ(rate.error().code, Errc::invalid_argument);
    EXPECT_NE(rate.error().remedy().find("10/s"), std::string_view::npos);
  }
}

}  // namespace
}  // namespace holdfast::cli
