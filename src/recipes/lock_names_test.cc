#include "recipes/lock_names.h"

#include <gtest/gtest.h>

namespace holdfast::recipes {
namespace {

TEST(LockNamesTest, AreSortedByTheirBytesAndEachOnce) {
  std::vector<std::string> names{"b", "a/2", "B", "a", "b", "\xc3\xa4"};
  ASSERT_TRUE(put_in_order(names));
  EXPECT_EQ(names, (std::vector<std::string>{"B", "a", "a/2", "b", "\xc3\xa4"}));
}

TEST(LockNamesTest, NoneAndWrongOnesAreRefused) {
  std::vector<std::string> none;
  EXPECT_EQ(put_in_order(none).error().code, Errc::invalid_argument);
  std::vector<std::string> wrong{"a", "b\n"};
  EXPECT_EQ(put_in_order(wrong).error().code, Errc::invalid_argument);
}

}  // namespace
}  // namespace holdfast::recipes
