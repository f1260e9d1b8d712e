#include "cli/duration.h"

#include <gtest/gtest.h>

#include "holdfast/options.h"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

struct Good {
  const char* text;
  Millis value;
};

class DurationTest : public testing::TestWithParam<Good> {};

TEST_P(DurationTest, IsRead) {
  const auto parsed = parse_duration(GetParam().text);
  ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
  EXPECT_EQ(*parsed, GetParam().value);
}

INSTANTIATE_TEST_SUITE_P(Units,
                         DurationTest,
                         testing::Values(Good{"100ms", 100ms},
                                         Good{"30s", 30s},
                                         Good{"5m", 5min},
                                         Good{"24h", 24h},
                                         Good{"2d", 48h},
                                         Good{"1.5s", 1500ms},
                                         Good{"0.25s", 250ms},
                                         Good{"1.000s", 1s},
                                         Good{"0", 0ms},
                                         Good{"0s", 0ms},
                                         Good{"999999999d", 999999999 * 24h}));

struct Bad {
  const char* text;
  const char* cause;
};

class BadDurationTest : public testing::TestWithParam<Bad> {};

TEST_P(BadDurationTest, IsRefusedWithItsCause) {
  const auto parsed = parse_duration(GetParam().text);
  ASSERT_FALSE(parsed.has_value());
  EXPECT_EQ(parsed.error().code, Errc::invalid_argument);
  EXPECT_NE(parsed.error().message.find(GetParam().cause), std::string::npos)
      << parsed.error().message;
}

INSTANTIATE_TEST_SUITE_P(Texts,
                         BadDurationTest,
                         testing::Values(Bad{"", "empty"},
                                         Bad{"5", "unit is missing"},
                                         Bad{"-5s", "negative"},
                                         Bad{"abc", "number"},
                                         Bad{".5s", "number"},
                                         Bad{"1.s", "point"},
                                         Bad{"5x", "unknown unit 'x'"},
                                         Bad{"5 s", "unknown unit ' s'"},
                                         Bad{"0.1ms", "finer"},
                                         Bad{"9999999999s", "too many digits"}));

TEST(WaitTest, ForeverIsAWait) {
  EXPECT_EQ(*parse_wait("forever"), kForever);
  EXPECT_EQ(*parse_wait("0"), 0ms);
  EXPECT_FALSE(parse_wait("never").has_value());
}

TEST(FormatDurationTest, IsShort) {
  EXPECT_EQ(format_duration(0ms), "0ms");
  EXPECT_EQ(format_duration(250ms), "250ms");
  EXPECT_EQ(format_duration(1500ms), "1.5s");
  EXPECT_EQ(format_duration(30s), "30s");
  EXPECT_EQ(format_duration(5min), "5m");
  EXPECT_EQ(format_duration(61s), "1m1s");
  EXPECT_EQ(format_duration(3h + 12min), "3h12m");
}

}  // namespace
}  // namespace holdfast::cli
