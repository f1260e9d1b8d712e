#include "engines/etcd/contenders.h"

#include <gtest/gtest.h>

#include "core/holder_note.h"

namespace holdfast::etcd {
namespace {

using core::Admission;

constexpr core::Claim kExclusive{};
constexpr core::Claim kShared{.mode = Mode::shared};
constexpr core::Claim permit(std::uint32_t permits) {
  return {.mode = Mode::permit, .permits = permits};
}

KeyValue entry(std::string key, const core::Claim& claim, Revision created) {
  return {.key = std::move(key), .value = to_value({.claim = claim}), .created = created};
}

KeyValue foreign(std::string key, Revision created) {
  return {.key = std::move(key), .value = "", .created = created, .lease = LeaseId{0x1f}};
}

using Blockers = std::vector<std::string>;

TEST(ContendersTest, ReadsWhatItWrote) {
  for (const core::Claim& claim : {kExclusive, kShared, permit(7)}) {
    for (const LeaseKind kind : {LeaseKind::session, LeaseKind::detached}) {
      const Entrant read = read_entrant(to_value({.claim = claim, .kind = kind, .note = "a/1//"}));
      EXPECT_EQ(read.claim.mode, claim.mode);
      EXPECT_EQ(read.claim.permits, claim.permits);
      EXPECT_EQ(read.kind, kind);
      EXPECT_EQ(read.note, "a/1//");
      EXPECT_FALSE(read.foreign);
    }
  }
}

TEST(ContendersTest, WhatCannotBeReadIsForeignAndExclusive) {
  for (const char* value : {"", "hf1", "hf1 x", "hf1 y s n", "hf1 p0 s n", "hf2 s s n", "leader"}) {
    EXPECT_TRUE(read_entrant(value).foreign) << value;
    EXPECT_EQ(read_entrant(value).claim.mode, Mode::exclusive) << value;
  }
}

TEST(ContendersTest, TheFirstHolds) {
  EXPECT_EQ(stand({}, kExclusive).admission, Admission::granted);
  EXPECT_EQ(stand({}, kShared).admission, Admission::granted);
  EXPECT_EQ(stand({}, permit(1)).admission, Admission::granted);
}

TEST(ContendersTest, WhoWantsItAloneWaitsForTheOneBefore) {
  const Standing standing = stand({entry("b", kExclusive, 7), entry("a", kShared, 3)}, kExclusive);
  EXPECT_EQ(standing.admission, Admission::must_wait);
  EXPECT_EQ(standing.blockers, Blockers{"b"});
  EXPECT_EQ(standing.departures, 1U);
}

TEST(ContendersTest, AReaderWaitsForTheLatestThatIsNone) {
  const Standing standing = stand({entry("a", kExclusive, 1),
                                   entry("b", kShared, 2),
                                   entry("c", kExclusive, 3),
                                   entry("d", kShared, 4)},
                                  kShared);
  EXPECT_EQ(standing.admission, Admission::must_wait);
  EXPECT_EQ(standing.blockers, Blockers{"c"});
  EXPECT_EQ(stand({entry("b", kShared, 2)}, kShared).admission, Admission::granted);
}

TEST(ContendersTest, AForeignContenderWantsItAlone) {
  EXPECT_EQ(stand({foreign("a", 1)}, kShared).blockers, Blockers{"a"});
}

TEST(ContendersTest, APermitWaitsUntilEnoughHaveGoneWhoeverTheyAre) {
  const Standing standing = stand(
      {entry("a", permit(2), 1), entry("b", permit(2), 2), entry("c", permit(2), 3)}, permit(2));
  EXPECT_EQ(standing.admission, Admission::must_wait);
  EXPECT_EQ(standing.blockers, (Blockers{"a", "b", "c"}));
  EXPECT_EQ(standing.departures, 2U);
  EXPECT_EQ(stand({entry("a", permit(2), 1)}, permit(2)).admission, Admission::granted);
}

TEST(ContendersTest, APermitBehindAWriterWaitsForTheWriter) {
  const Standing standing = stand({entry("a", permit(1), 1), entry("w", kExclusive, 2)}, permit(1));
  EXPECT_EQ(standing.blockers, Blockers{"w"});
}

TEST(ContendersTest, AnotherNumberOfPermitsIsToldAtOnce) {
  EXPECT_EQ(stand({entry("a", permit(2), 1)}, permit(3)).admission, Admission::permits_differ);
}

TEST(ContendersTest, OthersSeeWhoHoldsAndWhoWaits) {
  const Keys keys{"hf/"};
  const LockName name{"ledger"};
  const core::HolderNote note{.host = "host", .pid = 7, .label = "nightly", .since_ms = 5};
  const auto key = [&](std::int64_t lease, const char* fp) {
    return keys.contender(name, LeaseId{lease}, fp);
  };
  KeyValue first = entry(key(1, "00000000000000aa"), kShared, 11);
  first.value = to_value({.claim = kShared, .note = core::encode_note(note)});
  const Lineup lineup = line_up(name,
                                {first,
                                 entry(key(2, "00000000000000bb"), kShared, 12),
                                 foreign("hf/ledger/1f", 13),
                                 entry(key(2, "00000000000000cc"), kShared, 14)},
                                keys);
  EXPECT_EQ(lineup.info.mode, Mode::shared);
  ASSERT_EQ(lineup.info.holders.size(), 2U);
  EXPECT_EQ(lineup.info.holders[0].owner_fp, "00000000000000aa");
  EXPECT_EQ(lineup.info.holders[0].token, Token{11});
  EXPECT_EQ(lineup.info.holders[0].label, "nightly");
  EXPECT_EQ(lineup.info.holders[1].token, Token{12});
  ASSERT_EQ(lineup.info.waiters.size(), 2U);
  EXPECT_TRUE(lineup.info.waiters[0].foreign);
  EXPECT_EQ(lineup.info.waiters[0].owner_fp, "1f");
  EXPECT_EQ(lineup.info.waiters[0].mode, Mode::exclusive);
  EXPECT_EQ(lineup.info.waiters[1].owner_fp, "00000000000000cc");
  EXPECT_EQ(lineup.waiters[1].created, 14);
}

}  // namespace
}  // namespace holdfast::etcd
