#include "core/store_mark.h"

#include <gtest/gtest.h>

namespace holdfast::core {
namespace {

StoreMark full_mark() {
  StoreMark mark;
  mark.fence = Fence{.domain = "etcd:ab#a lock/with %",
                     .policy = WritePolicy::strict,
                     .exclusive = {Token{41}, "owner-x"},
                     .any = {Token{42}, "owner y"},
                     .sequence = 3,
                     .written = Token{41},
                     .written_sequence = 2};
  mark.version = Version{77};
  mark.content = StoreMark::Content::fleeting_value;
  mark.contender = std::string{"hf/x/\0\x01-", 8};
  mark.rebased = "9";
  mark.done = {{"1", Version{77}, 2}, {"-", Version{70}, 1}};
  return mark;
}

TEST(StoreMarkTest, IsReadAsItWasWritten) {
  EXPECT_EQ(read_mark(to_text(full_mark())), full_mark());
  EXPECT_EQ(read_mark(to_text(StoreMark{})), StoreMark{});
  StoreMark plain;
  plain.version = Version{5};
  plain.content = StoreMark::Content::value;
  plain.done = {{"1", Version{5}, 0}};
  EXPECT_EQ(read_mark(to_text(plain)), plain);
}

TEST(StoreMarkTest, AFenceWithoutADomainIsAFence) {
  StoreMark mark;
  mark.fence = Fence{};
  EXPECT_EQ(read_mark(to_text(mark)), mark);
}

TEST(StoreMarkTest, IsOfOneLineWithoutWhatWouldPartIt) {
  const std::string text = to_text(full_mark());
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_EQ(text.find('\0'), std::string::npos);
}

// Other programs guard keys of their own with a comparison of this value.
TEST(StoreMarkTest, ComparesAsItsTokensDo) {
  const auto with = [](std::uint64_t token) {
    StoreMark mark;
    mark.fence = Fence{.domain = "d", .any = {Token{token}, "o"}};
    return to_text(mark);
  };
  EXPECT_LT(with(9), with(10));
  EXPECT_LT(with(99), with(Token::kMax));
  EXPECT_GT(with(10), fixed_width(Token{10}));
  EXPECT_LT(with(10), fixed_width(Token{11}));
  EXPECT_EQ(fixed_width(Token{Token::kMax}).size(), fixed_width(Token{1}).size());
}

TEST(StoreMarkTest, WhatIsNotAMarkIsNotRead) {
  const std::string good = to_text(full_mark());
  for (const std::string& bad : {std::string{},
                                 std::string{"hello"},
                                 good + " ",
                                 good + " 5",
                                 good.substr(0, 60),
                                 " " + good,
                                 "x" + good}) {
    EXPECT_FALSE(read_mark(bad)) << bad;
  }
}

}  // namespace
}  // namespace holdfast::core
