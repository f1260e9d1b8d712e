#include "client/fence_record.h"

#include <gtest/gtest.h>

namespace holdfast::files {
namespace {

Slot example() {
  Standing before{.fence = core::Fence{.domain = "engine#lock",
                                       .policy = WritePolicy::strict,
                                       .exclusive = {Token{7}, "seven"},
                                       .any = {Token{Token::kMax}, "most"},
                                       .sequence = 3,
                                       .written = Token{6}},
                  .content = digest_of("content"),
                  .version = 12};
  Standing after = before;
  after.content.reset();
  after.version = 13;
  return {.generation = 5,
          .record = {.standing = before, .pending = Pending{.after = after, .temporary = 99}}};
}

TEST(FenceRecordTest, ComesBackAsItWasWritten) {
  Slot empty{.generation = 1};
  for (const Slot& slot : {example(), empty}) {
    const auto bytes = encode(slot);
    ASSERT_TRUE(bytes);
    EXPECT_EQ(bytes->size(), kSlotBytes);
    const auto read = decode(*bytes);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->generation, slot.generation);
    EXPECT_EQ(read->record, slot.record);
  }
}

TEST(FenceRecordTest, OneChangedBitMakesItNoSlot) {
  const std::string bytes = *encode(example());
  const auto length = bytes.find_last_not_of('\0') + 1;
  for (std::size_t i = 0; i < length; ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(changed[i] ^ (1 << bit));
      ASSERT_FALSE(decode(changed)) << "byte " << i << " bit " << bit;
    }
  }
}

TEST(FenceRecordTest, APartIsNoSlot) {
  const std::string bytes = *encode(example());
  const auto length = bytes.find_last_not_of('\0') + 1;
  for (std::size_t count = 0; count < length; ++count) {
    std::string torn = bytes.substr(0, count);
    ASSERT_FALSE(decode(torn)) << count;
    torn.resize(kSlotBytes, '\0');
    ASSERT_FALSE(decode(torn)) << count;
  }
}

TEST(FenceRecordTest, WhatDoesNotFitIsNotWritten) {
  Slot slot = example();
  slot.record.standing.fence->domain = std::string(kSlotBytes, 'd');
  EXPECT_FALSE(encode(slot));
}

}  // namespace
}  // namespace holdfast::files
