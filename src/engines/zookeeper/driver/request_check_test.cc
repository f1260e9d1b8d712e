#include "engines/zookeeper/driver/request_check.h"

#include <gtest/gtest.h>

namespace holdfast::zookeeper {
namespace {

TEST(RequestCheckTest, PathsAreThoseOfZookeeper) {
  for (const char* path : {"/", "/a", "/a/b", "/a/..b", "/...", "/a b", "/\xc3\xa9", "/%2F"}) {
    EXPECT_TRUE(is_path(path)) << path;
  }
  for (const char* path :
       {"", "a", "//", "/a/", "/a//b", "/.", "/a/..", "/./a", "/a\x01", "/a\n"}) {
    EXPECT_FALSE(is_path(path)) << path;
  }
}

TEST(RequestCheckTest, ANumberMakesAGoodEnd) {
  EXPECT_TRUE(is_path("/a/", Create::Kind::ephemeral_sequential));
  EXPECT_TRUE(is_path("/a/..", Create::Kind::persistent_sequential));
  EXPECT_FALSE(is_path("/a/", Create::Kind::ephemeral));
  EXPECT_FALSE(is_path("/a//", Create::Kind::ephemeral_sequential));
}

TEST(RequestCheckTest, WhatIsTooLargeIsRefusedWithItsSize) {
  const std::string large(1000, 'x');
  EXPECT_TRUE(check_request(Write{"/a", large}, "", 1200));
  const auto refused = check_request(Write{"/a", large}, "", 1000);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::invalid_argument);
  EXPECT_NE(refused.error().message.find("jute.maxbuffer"), std::string::npos);
  EXPECT_FALSE(check_request(Multi{{Write{"/a", large}, Write{"/b", large}}}, "", 2000));
  EXPECT_FALSE(check_request(Read{"/a"}, std::string(3000, 'c'), 2000));
}

TEST(RequestCheckTest, BadPathsAreRefusedWhereverTheyStand) {
  EXPECT_FALSE(check_request(List{"a"}, "", 1000));
  EXPECT_FALSE(check_request(Multi{{Check{"/a"}, Erase{"/b/"}}}, "", 1000));
  EXPECT_TRUE(check_request(Multi{{Check{"/a"}, Erase{"/b"}}}, "", 1000));
  EXPECT_TRUE(check_request(Sync{}, "", 1000));
}

}  // namespace
}  // namespace holdfast::zookeeper
