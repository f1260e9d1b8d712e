#include "engines/zookeeper/store/store_node.h"

#include <gtest/gtest.h>

namespace holdfast::zookeeper {
namespace {

using core::Stay;
using core::StoreChange;

core::StoreMark some_mark() {
  core::StoreMark mark;
  mark.fence = core::Fence{.domain = "zookeeper:ab#a lock", .any = {Token{42}, "owner y"}};
  mark.version = holdfast::Version{77};
  mark.content = core::StoreMark::Content::value;
  mark.contender = "/hf/a%20lock/_c_1-lock-0000000001";
  mark.done = {{"1", holdfast::Version{77}, 2}};
  return mark;
}

TEST(StoreNodeTest, IsReadAsItWasWritten) {
  const Passing passing{.value = Millis{17}, .node = Millis{1'800'000'000'000}};
  const std::string head = head_of(passing, some_mark());
  for (const std::string& value : {std::string{}, std::string{"a\nb\0c", 5}, std::string{"\n"}}) {
    const auto node = read_node(to_data(head, value));
    ASSERT_TRUE(node);
    EXPECT_EQ(node->passing, passing);
    EXPECT_EQ(node->mark, some_mark());
    EXPECT_EQ(node->head, head);
    EXPECT_EQ(node->value, value);
  }
}

TEST(StoreNodeTest, WhatAnotherProgramWroteIsNotRead) {
  const std::string head = head_of({}, some_mark());
  for (const std::string& data : {std::string{},
                                  std::string{"hello\n"},
                                  head,
                                  head.substr(0, 30) + '\n',
                                  "hf2" + head.substr(3) + '\n',
                                  std::string{"hf1 -1 0 "} + core::to_text(some_mark()) + '\n'}) {
    EXPECT_FALSE(read_node(data)) << data;
  }
}

TEST(StoreNodeTest, AChangeSaysWhenThingsGo) {
  const Passing before{.value = Millis{5}, .node = Millis{6}};
  const Millis now{1'000'000};
  const Millis memory{600'000};
  StoreChange change{.mark = {}, .stay = Stay::for_good};
  EXPECT_EQ(passing_after(change, before, now), Passing{});
  change.stay = Stay::as_before;
  EXPECT_EQ(passing_after(change, before, now), before);
  change.stay = Stay::a_while;
  EXPECT_EQ(passing_after(change, before, now), (Passing{.node = now + memory}));
  change.stay = Stay::as_value;
  change.keep = Millis{50};
  EXPECT_EQ(passing_after(change, before, now), (Passing{.node = now + memory + Millis{50}}));
  change.value = StoreChange::Value::is_put;
  EXPECT_EQ(passing_after(change, before, now),
            (Passing{.value = now + Millis{50}, .node = now + memory + Millis{50}}));
}

TEST(StoreNodeTest, NamesOfWhatGoesTellWhen) {
  EXPECT_EQ(expiry_name(Millis{1'800'000'000'123}, "7"), "001800000000123-7");
  EXPECT_EQ(read_expiry(expiry_name(Millis{1'800'000'000'123}, "7")), Millis{1'800'000'000'123});
  EXPECT_FALSE(read_expiry("hello"));
  EXPECT_FALSE(read_expiry("x-7"));
}

// Locks are encoded: none has a `%` that is not followed by two digits.
TEST(StoreNodeTest, KeysMeetNeitherLocksNorEachOther) {
  const StoreNodes nodes{Nodes{"/hf"}};
  EXPECT_EQ(nodes.key(Space::values, "a/b"), "/hf/%store/values/a%2fb");
  EXPECT_EQ(nodes.key(Space::once, ".."), "/hf/%store/once/%2e%2e");
  EXPECT_EQ(nodes.record(Space::values, "k", "7"), "/hf/%store/audit/values:k:7");
  EXPECT_EQ(StoreNodes{Nodes{""}}.key(Space::values, "k"), "/%store/values/k");
}

TEST(StoreNodeTest, TheGroundComesParentsFirst) {
  const std::vector<std::string> ground = StoreNodes{Nodes{"/a/b"}}.ground();
  const std::vector<std::string> first{"/a", "/a/b", "/a/b/%store", "/a/b/%store/values"};
  ASSERT_GE(ground.size(), first.size());
  EXPECT_TRUE(std::equal(first.begin(), first.end(), ground.begin()));
  EXPECT_EQ(StoreNodes{Nodes{""}}.ground().front(), "/%store");
}

}  // namespace
}  // namespace holdfast::zookeeper
