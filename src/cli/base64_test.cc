#include "cli/base64.h"

#include <gtest/gtest.h>

namespace holdfast::cli {
namespace {

TEST(Base64Test, PadsTheLastGroup) {
  EXPECT_EQ(to_base64(""), "");
  EXPECT_EQ(to_base64("f"), "Zg==");
  EXPECT_EQ(to_base64("fo"), "Zm8=");
  EXPECT_EQ(to_base64("foo"), "Zm9v");
  EXPECT_EQ(to_base64("foob"), "Zm9vYg==");
}

TEST(Base64Test, TakesAnyByte) {
  EXPECT_EQ(to_base64({"\0\xff\xfe", 3}), "AP/+");
  EXPECT_EQ(to_base64("\xfb\xef\xbe"), "++++");
}

}  // namespace
}  // namespace holdfast::cli
