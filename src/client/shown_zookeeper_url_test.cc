#include "client/shown_zookeeper_url.h"

#include <gtest/gtest.h>

namespace holdfast {
namespace {

std::string shown_zookeeper(std::string_view url) {
  const auto parsed = zookeeper::parse_zookeeper_url(url);
  return parsed ? shown_zookeeper_url(*parsed) : parsed.error().message;
}

TEST(ShownZookeeperUrlTest, IsCompleteAndHasNoPassword) {
  EXPECT_EQ(shown_zookeeper("zookeeper://h"), "zookeeper://h:2181?prefix=/hf");
  EXPECT_EQ(shown_zookeeper("zookeeper://a%40b:secret@h,[::1]:1/app/x?layout=kazoo&acl=creator"),
            "zookeeper://a%40b@h:2181,[::1]:1/app/x?prefix=/hf&layout=kazoo&acl=creator");
}

// What it says again means the same.
TEST(ShownZookeeperUrlTest, ReadsAsItWasWritten) {
  for (const char* const url : {"zookeeper://h",
                                "zookeeper://a,b:7000,[::1]/c%20d?prefix=/a%20b",
                                "zookeeper://a?prefix="}) {
    EXPECT_EQ(shown_zookeeper(shown_zookeeper(url)), shown_zookeeper(url));
  }
}

}  // namespace
}  // namespace holdfast
