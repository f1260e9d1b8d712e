#include "engines/zookeeper/contenders.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/holder_note.h"

namespace holdfast::zookeeper {
namespace {

using namespace std::chrono_literals;

constexpr core::Claim kExclusive{};
constexpr core::Claim kShared{.mode = Mode::shared};

core::Claim permit(std::uint32_t of) { return {.mode = Mode::permit, .permits = of}; }

/// Children with these claims, in this order.
std::vector<Child> children(const std::vector<core::Claim>& claims) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const std::string id = contender_id("0123456789abcdef", i);
    const std::string number = std::to_string(i);
    names.push_back(contender_prefix(Layout::curator, claims[i], id) +
                    std::string(10 - number.size(), '0') + number);
  }
  std::ranges::reverse(names);
  return in_order(names);
}

Standing stand_last(const std::vector<core::Claim>& claims) {
  const auto all = children(claims);
  return stand(all, all.back().name, claims.back());
}

TEST(ZookeeperContendersTest, WhoWantsItAloneWaitsForTheOneAhead) {
  EXPECT_EQ(stand_last({kExclusive}).admission, core::Admission::granted);
  const auto all = children({kExclusive, kShared, kExclusive});
  const Standing standing = stand(all, all[2].name, kExclusive);
  EXPECT_EQ(standing.admission, core::Admission::must_wait);
  EXPECT_EQ(standing.blockers, std::vector{all[1].name});
  EXPECT_EQ(standing.departures, 1U);
}

TEST(ZookeeperContendersTest, WhoSharesItWaitsForTheLastThatDoesNot) {
  EXPECT_EQ(stand_last({kShared, kShared}).admission, core::Admission::granted);
  const auto all = children({kExclusive, kExclusive, kShared, kShared});
  EXPECT_EQ(stand(all, all[3].name, kShared).blockers, std::vector{all[1].name});
}

TEST(ZookeeperContendersTest, WhoWantsAPermitWaitsForEnoughToGo) {
  EXPECT_EQ(stand_last({permit(2), permit(2)}).admission, core::Admission::granted);
  const Standing standing = stand_last({permit(2), permit(2), permit(2), permit(2)});
  EXPECT_EQ(standing.admission, core::Admission::must_wait);
  EXPECT_EQ(standing.blockers.size(), 3U);
  EXPECT_EQ(standing.departures, 2U);
  EXPECT_EQ(stand_last({permit(2), permit(3)}).admission, core::Admission::permits_differ);
}

TEST(ZookeeperContendersTest, ThoseBehindDoNotCount) {
  const auto all = children({kExclusive, kExclusive});
  EXPECT_EQ(stand(all, all[0].name, kExclusive).admission, core::Admission::granted);
}

TEST(ZookeeperContendersTest, DataAreReadAsTheyWereWritten) {
  const Entrant written{
      .kind = LeaseKind::detached, .ttl = 1500ms, .sealed = std::string{"\0\xffz", 3}, .note = "n"};
  const Entrant read = read_entrant(to_data(written));
  EXPECT_FALSE(read.foreign);
  EXPECT_EQ(read.kind, LeaseKind::detached);
  EXPECT_EQ(read.ttl, 1500ms);
  EXPECT_EQ(read.sealed, written.sealed);
  EXPECT_EQ(read.note, "n");
  EXPECT_EQ(read_entrant(to_data({.ttl = 1s})).sealed, "");
}

TEST(ZookeeperContendersTest, WhatOthersWriteIsForeign) {
  for (const char* data : {"", "127.0.0.1", "hf1", "hf1 x 1 - n", "hf1 s y - n", "hf1 s 1 zz n"}) {
    EXPECT_TRUE(read_entrant(data).foreign) << data;
  }
}

TEST(ZookeeperContendersTest, OnlyTheOwnerReadsWhatItSealed) {
  const Owner owner = *Owner::parse("00112233445566778899aabbccddeeff");
  const Owner other = *Owner::parse("00112233445566778899aabbccddeefe");
  const std::string secret = "sixteen bytes it is and a few more to fill several words";
  const std::string sealed = sealed_by(owner, secret);
  EXPECT_NE(sealed, secret);
  EXPECT_EQ(sealed_by(owner, sealed), secret);
  EXPECT_NE(sealed_by(other, sealed), secret);
}

TEST(ZookeeperContendersTest, HoldersAndWaitersAreToldApart) {
  std::vector<Known> known;
  for (Child& child : children({kShared, kShared, kExclusive})) {
    known.push_back({.child = std::move(child),
                     .entrant = {.ttl = 5s, .note = core::encode_note({.host = "h", .pid = 7})},
                     .stat = {.created = 40}});
  }
  known[1].entrant = {.foreign = true};
  known[1].stat.owner = {99};
  const Lineup lineup = line_up(LockName{"x"}, known);
  ASSERT_EQ(lineup.info.holders.size(), 2U);
  ASSERT_EQ(lineup.info.waiters.size(), 1U);
  EXPECT_EQ(lineup.info.mode, Mode::shared);
  EXPECT_EQ(lineup.info.holders[0].token, Token{40});
  EXPECT_EQ(lineup.info.holders[0].owner_fp, "0123456789abcdef");
  EXPECT_EQ(lineup.info.holders[0].pid, 7);
  EXPECT_EQ(lineup.info.holders[0].ttl, 5s);
  EXPECT_TRUE(lineup.info.holders[1].foreign);
  EXPECT_EQ(lineup.info.holders[1].owner_fp, "99");
  EXPECT_EQ(lineup.info.waiters[0].token, Token{0});
}

}  // namespace
}  // namespace holdfast::zookeeper
