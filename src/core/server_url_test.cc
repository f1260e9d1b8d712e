#include "core/server_url.h"

#include <gtest/gtest.h>

namespace holdfast::core {
namespace {

TEST(ServerUrlTest, WhatIsOnThisMachine) {
  for (const char* const host : {"localhost", "127.0.0.1", "127.9.9.9", "::1"}) {
    EXPECT_TRUE(is_here({.host = host})) << host;
  }
  for (const char* const host : {"10.0.0.1", "127.example", "::2", "localhost.example", ""}) {
    EXPECT_FALSE(is_here({.host = host})) << host;
  }
}

}  // namespace
}  // namespace holdfast::core
