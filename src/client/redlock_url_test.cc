#include "client/redlock_url.h"

#include <gtest/gtest.h>

namespace holdfast {
namespace {

Error error_of(std::string_view url) {
  const auto parsed = parse_redlock_url(url);
  return parsed ? Error{Errc::internal, "parsed"} : parsed.error();
}

TEST(RedlockUrlTest, NodesShareCredentialsDatabaseAndParameters) {
  const auto url =
      parse_redlock_url("redlock://app:s%2Fcret@a,b:7000,[::1]:7001/2?prefix=p:&timeout=2s");
  ASSERT_TRUE(url) << url.error().message;
  EXPECT_EQ(url->names(), (std::vector<std::string>{"a:6379", "b:7000", "[::1]:7001"}));
  for (const redis::RedisTarget& node : url->nodes) {
    EXPECT_EQ(node.user, "app");
    EXPECT_EQ(node.password, "s/cret");
    EXPECT_EQ(node.database, 2U);
    EXPECT_FALSE(node.tls);
  }
  EXPECT_EQ(url->prefix, "p:");
  EXPECT_EQ(url->timeout, Millis{2000});
  EXPECT_EQ(url->shown(), "redlock://a:6379,b:7000,[::1]:7001/2?prefix=p:");
}

TEST(RedlockUrlTest, WhatIsShownIsTheSameEngine) {
  for (const char* const text : {"redlocks://a,b,c", "redlock+unix:///s/1,/s/2,/s/3?db=4"}) {
    const auto url = parse_redlock_url(text);
    ASSERT_TRUE(url) << url.error().message;
    const auto again = parse_redlock_url(url->shown());
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->names(), url->names());
    EXPECT_EQ(again->shown(), url->shown());
    EXPECT_EQ(again->nodes[0].database, url->nodes[0].database);
  }
  EXPECT_TRUE(parse_redlock_url("redlocks://a,b,c")->nodes[2].tls);
}

TEST(RedlockUrlTest, AnEvenNumberOfNodesIsAllowed) {
  EXPECT_EQ(parse_redlock_url("redlock://a,b,c,d")->nodes.size(), 4U);
}

TEST(RedlockUrlTest, TooFewAndRepeatedNodesAreRefused) {
  EXPECT_NE(error_of("redlock://a,b").message.find("names 2 nodes"), std::string::npos);
  EXPECT_NE(error_of("redlock://a").message.find("names 1 node,"), std::string::npos);
  EXPECT_EQ(error_of("redlock://a,b,a:6379").message, "the Redlock URL names a:6379 twice");
  EXPECT_EQ(error_of("redlock://a,b,").code, Errc::invalid_argument);
  EXPECT_EQ(error_of("redlock://").code, Errc::invalid_argument);
}

TEST(RedlockUrlTest, BadPartsAreRefusedWithoutQuotingCredentials) {
  for (const char* const url : {"redlock:a,b,c",
                                "redlock://u:secret@a,b,c:x",
                                "redlock://u:secret@a,b,c?colour=red",
                                "redlock://u:secret@a,b,c/x"}) {
    const Error error = error_of(url);
    EXPECT_EQ(error.code, Errc::invalid_argument) << url;
    EXPECT_EQ(error.message.find("secret"), std::string::npos) << error.message;
  }
}

}  // namespace
}  // namespace holdfast
