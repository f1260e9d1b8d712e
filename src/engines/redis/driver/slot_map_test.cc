#include "engines/redis/driver/slot_map.h"

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

Reply node(const std::string& host, std::int64_t port) {
  return Reply::of_array(
      {Reply::of_text(host), Reply::of_integer(port), Reply::of_text("a1b2"), Reply::of_array({})});
}

Reply range(std::int64_t first, std::int64_t last, Reply master) {
  return Reply::of_array(
      {Reply::of_integer(first), Reply::of_integer(last), std::move(master), node("replica", 9)});
}

const Address kAsked{"seed", 7000};

TEST(SlotMapTest, KnowsTheMasterOfEverySlot) {
  const auto map = SlotMap::read(
      Reply::of_array({range(0, 99, node("a", 1)), range(200, 16383, node("b", 2))}), kAsked);
  ASSERT_TRUE(map);
  EXPECT_EQ(map->master_of(0), (Address{"a", 1}));
  EXPECT_EQ(map->master_of(99), (Address{"a", 1}));
  EXPECT_EQ(map->master_of(100), std::nullopt);
  EXPECT_EQ(map->master_of(16383), (Address{"b", 2}));
  EXPECT_EQ(map->masters(), (std::set<Address>{{"a", 1}, {"b", 2}}));
}

TEST(SlotMapTest, AMasterWithoutAHostIsWhereWeAsked) {
  for (const char* const host : {"", "?"}) {
    const auto map = SlotMap::read(Reply::of_array({range(0, 0, node(host, 7001))}), kAsked);
    EXPECT_EQ(map.value().master_of(0), (Address{"seed", 7001}));
  }
}

TEST(SlotMapTest, OneSlotMovesAlone) {
  auto map = SlotMap::read(Reply::of_array({range(0, 1, node("a", 1))}), kAsked).value();
  map.move(1, {"b", 2});
  EXPECT_EQ(map.master_of(0), (Address{"a", 1}));
  EXPECT_EQ(map.master_of(1), (Address{"b", 2}));
  map.move(0, {"b", 2});
  EXPECT_EQ(map.masters(), (std::set<Address>{{"b", 2}})) << "the other has no slots left";
}

TEST(SlotMapTest, AnAnswerWithoutSlotsIsAMapWithoutMasters) {
  const auto map = SlotMap::read(Reply::of_array({}), kAsked);
  ASSERT_TRUE(map);
  EXPECT_TRUE(map->masters().empty());
}

TEST(SlotMapTest, NonsenseIsNoMap) {
  for (const Reply& reply : {Reply{},
                             Reply::of_error("ERR"),
                             Reply::of_array({Reply::of_integer(1)}),
                             Reply::of_array({range(5, 4, node("a", 1))}),
                             Reply::of_array({range(0, 16384, node("a", 1))}),
                             Reply::of_array({range(-1, 1, node("a", 1))}),
                             Reply::of_array({range(0, 1, node("a", 0))}),
                             Reply::of_array({range(0, 1, node("a", 65536))}),
                             Reply::of_array({range(0, 1, Reply::of_text("a"))})}) {
    EXPECT_FALSE(SlotMap::read(reply, kAsked));
  }
}

}  // namespace
}  // namespace holdfast::redis
