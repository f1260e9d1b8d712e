#include "engines/redis/hash_slot.h"

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

// As CLUSTER KEYSLOT answers.
TEST(HashSlotTest, IsTheOneThatRedisComputes) {
  EXPECT_EQ(hash_slot("123456789"), 0x31C3 % kSlots);
  EXPECT_EQ(hash_slot("foo"), 12182);
  EXPECT_EQ(hash_slot("hello"), 866);
  EXPECT_EQ(hash_slot(""), 0);
}

TEST(HashSlotTest, OnlyWhatStandsInTheFirstBracesCounts) {
  EXPECT_EQ(hash_slot("{foo}bar"), hash_slot("foo"));
  EXPECT_EQ(hash_slot("a{foo}b{hello}"), hash_slot("foo"));
  EXPECT_EQ(hash_slot("{{foo}"), hash_slot("{foo"));
}

TEST(HashSlotTest, BracesAroundNothingOrNeverClosedDoNot) {
  EXPECT_NE(hash_slot("{}foo"), hash_slot(""));
  EXPECT_NE(hash_slot("foo{}{hello}"), hash_slot("hello"));
  EXPECT_NE(hash_slot("{foo"), hash_slot("foo"));
}

TEST(HashSlotTest, EverySlotHasATag) {
  for (std::uint16_t slot = 0; slot < kSlots; ++slot) {
    ASSERT_EQ(hash_slot("hf:{" + slot_tag(slot) + "}x"), slot);
  }
}

TEST(SlotBatchesTest, ABatchIsOfOneSlotAndNotTooLarge) {
  using Batches = std::vector<std::vector<std::size_t>>;
  EXPECT_EQ(slot_batches({}, 2), Batches{});
  EXPECT_EQ(slot_batches({0, 0, 0, 0, 0}, 2), (Batches{{0, 1}, {2, 3}, {4}}));
  EXPECT_EQ(slot_batches({7, 3, 7, 3, 7}, 2), (Batches{{1, 3}, {0, 2}, {4}}));
}

}  // namespace
}  // namespace holdfast::redis
