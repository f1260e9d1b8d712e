#include "observe/refusal_record.h"

#include <gtest/gtest.h>

namespace holdfast::observe {
namespace {

RefusalRecord record(std::string_view resource, std::int64_t now_ms) {
  RefusalRecord record;
  record.add(resource, now_ms);
  return record;
}

TEST(RefusalRecordTest, EachResourceHasItsCountAndItsLast) {
  RefusalRecord sum = record("ledger", 100);
  sum.add("ledger", 300);
  sum.add("config", 200);
  EXPECT_EQ(sum.total, 3u);
  EXPECT_EQ(sum.since_ms, 100);
  EXPECT_EQ(sum.resources.at("ledger"), (RefusalRecord::Refused{.count = 2, .last_ms = 300}));
  EXPECT_EQ(sum.resources.at("config"), (RefusalRecord::Refused{.count = 1, .last_ms = 200}));
}

TEST(RefusalRecordTest, OrderOfMergingDoesNotMatter) {
  const RefusalRecord nothing;
  const RefusalRecord early = record("ledger", 100);
  RefusalRecord late = record("ledger", 200);
  late.add("config", 300);
  RefusalRecord one = early;
  one.merge(late);
  one.merge(nothing);
  RefusalRecord other = nothing;
  other.merge(late);
  other.merge(early);
  EXPECT_EQ(one, other);
  EXPECT_EQ(one.since_ms, 100);
}

TEST(RefusalRecordTest, WhatWasRefusedLongestAgoIsForgottenAndCountedStill) {
  constexpr int kResources = 150;
  RefusalRecord sum;
  for (int i = 0; i < kResources; ++i) sum.add("r" + std::to_string(i), 1'000 + i);
  EXPECT_EQ(sum.resources.size(), RefusalRecord::kResourcesMax);
  EXPECT_FALSE(sum.resources.contains("r49"));
  EXPECT_TRUE(sum.resources.contains("r50"));
  EXPECT_EQ(sum.total, std::uint64_t{kResources});
  EXPECT_EQ(sum.since_ms, 1'000);
}

TEST(RefusalRecordTest, RecordIsSmallHoweverLongTheNamesAre) {
  RefusalRecord sum;
  for (int i = 0; i < 150; ++i) {
    sum.add(std::to_string(1'000 + i) + std::string(100'000, 'n'), 1'760'000'000'000 + i);
  }
  EXPECT_LE(sum.encode().size(), 56u * 1024);
}

TEST(RefusalRecordTest, BytesGiveBackTheSameAndNothingElseIsTaken) {
  RefusalRecord sum = record("ledger", 1'760'000'000'000);
  sum.add(std::string("\xff\0b", 3), 1'760'000'000'001);
  const std::string bytes = sum.encode();
  EXPECT_EQ(RefusalRecord::decode(bytes), sum);
  EXPECT_EQ(RefusalRecord::decode(RefusalRecord{}.encode()), RefusalRecord{});
  EXPECT_FALSE(RefusalRecord::decode(bytes + "x"));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(RefusalRecord::decode(bytes.substr(0, size))) << size;
  }
  EXPECT_FALSE(RefusalRecord::decode("hfr1\x01\x01\xff\xff\xff\xff\x7f"));
  EXPECT_FALSE(RefusalRecord::decode("42"));
}

}  // namespace
}  // namespace holdfast::observe
