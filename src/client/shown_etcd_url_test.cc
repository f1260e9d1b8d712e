#include "client/shown_etcd_url.h"

#include <gtest/gtest.h>

namespace holdfast {
namespace {

std::string shown(std::string_view url) {
  const auto parsed = etcd::parse_etcd_url(url);
  return parsed ? shown_etcd_url(*parsed) : parsed.error().message;
}

TEST(ShownEtcdUrlTest, IsCompleteAndHasNoPassword) {
  EXPECT_EQ(shown("etcd://h"), "etcd://h:2379?prefix=hf/");
  EXPECT_EQ(shown("etcd://a%40b:secret@h,[::1]:1?prefix="), "etcd://a%40b@h:2379,[::1]:1?prefix=");
  EXPECT_EQ(shown("etcds://h?ca=/ca&cert=/c&key=/k&servername=n"),
            "etcds://h:2379?prefix=hf/&ca=/ca&cert=/c&key=/k&servername=n");
}

// What it says again means the same.
TEST(ShownEtcdUrlTest, ReadsAsItWasWritten) {
  for (const char* const url :
       {"etcd://h", "etcd://a,b:7000,[::1]?prefix=a%20b/", "etcds://a?ca=/x%26y"}) {
    EXPECT_EQ(shown(shown(url)), shown(url));
  }
}

}  // namespace
}  // namespace holdfast
