#include "base/url_timeout.h"

#include <gtest/gtest.h>

namespace holdfast {
namespace {

using namespace std::chrono_literals;

TEST(UrlTimeoutTest, HasAUnit) {
  EXPECT_EQ(parse_url_timeout("500ms").value(), 500ms);
  EXPECT_EQ(parse_url_timeout("5s").value(), 5s);
  EXPECT_EQ(parse_url_timeout("1440m").value(), 24h);
}

TEST(UrlTimeoutTest, IsMoreThanNothingAndAtMostADay) {
  for (const char* const text :
       {"", "5", "s", "0s", "-1s", "1h", "5 s", "1441m", "99999999999999999999s"}) {
    const auto parsed = parse_url_timeout(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, Errc::invalid_argument) << text;
  }
}

}  // namespace
}  // namespace holdfast
