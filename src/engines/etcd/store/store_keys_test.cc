#include "engines/etcd/store/store_keys.h"

#include <gtest/gtest.h>

namespace holdfast::etcd {
namespace {

TEST(StoreKeysTest, KeysOfSpacesAndKindsNeverMeet) {
  EXPECT_EQ(mark_key("hf/", Space::values, "k"), "hf/\x01mark:value:k");
  EXPECT_EQ(value_key("hf/", Space::values, "k"), "hf/\x01store:value:k");
  EXPECT_EQ(mark_key("", Space::once, "k"), "\x01mark:once:k");
  EXPECT_EQ(record_key("hf/", Space::values, "k", "7"),
            "hf/\x01"
            "audit:value:k\x01"
            "7");
}

}  // namespace
}  // namespace holdfast::etcd
