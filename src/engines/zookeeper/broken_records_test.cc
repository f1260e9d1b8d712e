#include "engines/zookeeper/broken_records.h"

#include <gtest/gtest.h>

namespace holdfast::zookeeper {
namespace {

constexpr std::int64_t kDayMs = 24LL * 3600 * 1000;

TEST(BrokenRecordsTest, ARecordIsFoundByItsOwner) {
  const std::vector<std::string> records{record_name("0123456789abcdef", 17)};
  EXPECT_TRUE(has_record(records, "0123456789abcdef"));
  EXPECT_FALSE(has_record(records, "0123456789abcde0"));
  EXPECT_FALSE(has_record(records, "0123456789abcde"));
}

TEST(BrokenRecordsTest, RecordsAreKeptForAMonth) {
  const std::int64_t now = 1000 * kDayMs;
  const std::string old = record_name("a", now - 31 * kDayMs);
  const std::string fresh = record_name("b", now - 29 * kDayMs);
  EXPECT_EQ(old_records({old, fresh, "another", "x-y"}, now), std::vector{old});
}

}  // namespace
}  // namespace holdfast::zookeeper
