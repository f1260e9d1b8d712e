#include "client/shown_redis_url.h"

#include <gtest/gtest.h>

namespace holdfast {
namespace {

std::string shown(std::string_view url) {
  const auto parsed = redis::parse_redis_url(url);
  return parsed ? shown_redis_url(*parsed) : parsed.error().message;
}

TEST(ShownRedisUrlTest, IsCompleteAndHasNoPassword) {
  EXPECT_EQ(shown("redis://h"), "redis://h:6379/0?prefix=hf:");
  EXPECT_EQ(shown("redis://a%40b:secret@h/2?prefix="), "redis://a%40b@h:6379/2?prefix=");
  EXPECT_EQ(shown("redis+unix:///run/a%20b"), "redis+unix:///run/a%20b?prefix=hf:&db=0");
  EXPECT_EQ(shown("rediss://h?ca=/ca&cert=/c&key=/k&servername=n"),
            "rediss://h:6379/0?prefix=hf:&ca=/ca&cert=/c&key=/k&servername=n");
  EXPECT_EQ(shown("redis+cluster://u:secret@a,[::1]:7000"),
            "redis+cluster://u@a:6379,[::1]:7000?prefix=hf:");
  EXPECT_EQ(shown("rediss+sentinel://:secret@a,b:1/main?db=3&sentinel_user=w"),
            "rediss+sentinel://a:26379,b:1/main?prefix=hf:&db=3&sentinel_user=w");
}

// What it says again means the same.
TEST(ShownRedisUrlTest, ReadsAsItWasWritten) {
  for (const char* const url : {"redis://h",
                                "redis://u@[::1]:7000/2?prefix=a%20b",
                                "redis+unix:///run/a%20b?db=2",
                                "rediss+cluster://a,b:7000?ca=/x%26y",
                                "redis+sentinel://a/ma%20in?db=1"}) {
    EXPECT_EQ(shown(shown(url)), shown(url));
  }
}

}  // namespace
}  // namespace holdfast
