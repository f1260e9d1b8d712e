#include "engines/etcd/etcd_messages.h"

#include <gtest/gtest.h>

namespace holdfast::etcd {
namespace {

TEST(EtcdMessagesTest, PrefixEndsBeforeTheNextSibling) {
  const KeyRange range = starting_with("hf/a/");
  EXPECT_EQ(range.key, "hf/a/");
  EXPECT_EQ(range.end, "hf/a0");
}

TEST(EtcdMessagesTest, PrefixCarriesOverTheLargestByte) {
  EXPECT_EQ(starting_with("a\xff\xff").end, "b");
}

// etcd reads an end of one zero byte as "to the last key".
TEST(EtcdMessagesTest, EmptyPrefixIsEveryKey) {
  const KeyRange range = starting_with("");
  EXPECT_EQ(range.key, std::string(1, '\0'));
  EXPECT_EQ(range.end, std::string(1, '\0'));
  EXPECT_EQ(starting_with("\xff").end, std::string(1, '\0'));
}

}  // namespace
}  // namespace holdfast::etcd
