// The contract of PostgresPort: the statements of the lease mode.

#include "engines/postgres/array_text.h"
#include "tests/ports/postgres_bed.h"

namespace holdfast::ports {
namespace {

using namespace postgres;

TEST_P(PostgresPortTest, GrantsAFreeLockAndTheSameTokenAgain) {
  const std::uint64_t token = take({.owner = "alice"});
  EXPECT_GE(token, std::uint64_t{1} << 40) << "the timeline is in it";
  EXPECT_EQ(take({.owner = "alice"}), token);
  EXPECT_TRUE(release("alice"));
  EXPECT_GT(take({.owner = "alice"}), token);
}

TEST_P(PostgresPortTest, SaysWhoHoldsALockThatIsTaken) {
  const std::uint64_t token = take({.owner = "alice"});
  const Row row = acquire({.owner = "bob"});
  EXPECT_EQ(row.at(0), "busy");
  EXPECT_EQ(row.at(1), std::to_string(token) + " alice note of alice");
  const long change = std::stol(row.at(2).value_or("0"));
  EXPECT_GT(change, 0);
  EXPECT_LE(change, 60'001);
  EXPECT_EQ(row.at(3), "t");
}

TEST_P(PostgresPortTest, ReleasesOnlyWhatTheOwnerHoldsByThatToken) {
  const std::uint64_t token = take({.owner = "alice"});
  EXPECT_FALSE(release("bob"));
  EXPECT_TRUE(release("alice", std::to_string(token)));
  EXPECT_FALSE(release("alice"));
  take({.owner = "alice"});
  EXPECT_FALSE(release("alice", std::to_string(token))) << "another lease of the same owner";
  EXPECT_EQ(outcome({.owner = "bob"}), "granted") << "which is gone all the same";
}

TEST_P(PostgresPortTest, TheFirstWhoWaitsIsGivenTheLockAndTold) {
  PostgresTalk& bob = talks_.attend();
  PostgresTalk& carol = talks_.attend();
  take({.owner = "alice"});
  EXPECT_EQ(acquire({.owner = "bob", .session = bob.number, .waits = "t"}).at(3), "t");
  EXPECT_EQ(acquire({.owner = "carol", .session = carol.number, .waits = "t"}).at(3), "f");
  EXPECT_TRUE(release("alice"));
  EXPECT_EQ(talks_.next_notice(bob), "granted bob " + token_of("bob"));
  EXPECT_TRUE(talks_.next_notice(carol).starts_with("first carol "));
  const Rows confirmed = talks_.ask(kConfirmStatement, {at("a"), "bob"});
  EXPECT_NE(confirmed.at(0).at(0), std::nullopt);
  EXPECT_EQ(outcome({.owner = "dave"}), "busy");
}

TEST_P(PostgresPortTest, AFreeLockIsGivenToWhoWaitsAndNotToWhoComesAlong) {
  PostgresTalk& bob = talks_.attend();
  take({.owner = "alice", .ttl = "0"});
  EXPECT_EQ(outcome({.owner = "bob", .session = bob.number, .waits = "t"}), "granted");
  EXPECT_TRUE(release("bob"));
  take({.owner = "alice", .ttl = "0"});
  // It stands in line behind a lease that is over.
  take({.owner = "carol", .claim = "x"});
  EXPECT_EQ(outcome({.owner = "bob", .session = bob.number, .waits = "t"}), "queued");
  EXPECT_TRUE(release("carol"));
  EXPECT_EQ(outcome({.owner = "dave"}), "busy");
}

TEST_P(PostgresPortTest, WhoseSessionIsGoneIsPassedOver) {
  PostgresTalk& bob = talks_.attend();
  PostgresTalk& carol = talks_.attend();
  take({.owner = "alice"});
  acquire({.owner = "bob", .session = bob.number, .waits = "t"});
  acquire({.owner = "carol", .session = carol.number, .waits = "t"});
  talks_.leave(bob);
  EXPECT_TRUE(release("alice"));
  EXPECT_EQ(talks_.next_notice(carol), "granted carol " + token_of("carol"));
}

TEST_P(PostgresPortTest, WithoutASessionWhoWaitsIsThereForItsTtl) {
  take({.owner = "alice"});
  acquire({.owner = "bob", .waits = "t", .ttl = "0"});
  acquire({.owner = "carol", .waits = "t"});
  EXPECT_TRUE(release("alice"));
  EXPECT_EQ(talks_.ask(kConfirmStatement, {at("a"), "bob"}).at(0).at(0), std::nullopt);
  EXPECT_NE(talks_.ask(kConfirmStatement, {at("a"), "carol"}).at(0).at(0), std::nullopt);
}

TEST_P(PostgresPortTest, WhoGivesUpWaitingLeavesTheLine) {
  take({.owner = "alice"});
  acquire({.owner = "bob", .waits = "t"});
  EXPECT_FALSE(release("bob"));
  EXPECT_TRUE(release("alice"));
  EXPECT_EQ(outcome({.owner = "carol"}), "granted");
}

TEST_P(PostgresPortTest, SharedHoldersComeTogetherAndAWaitingWriterStopsThem) {
  take({.owner = "alice", .claim = "s"});
  take({.owner = "bob", .claim = "s"});
  EXPECT_EQ(acquire({.owner = "carol", .waits = "t"}).at(1), std::nullopt) << "two hold it";
  EXPECT_EQ(outcome({.owner = "dave", .claim = "s"}), "busy");
  EXPECT_TRUE(release("alice"));
  EXPECT_TRUE(release("bob"));
  EXPECT_NE(talks_.ask(kConfirmStatement, {at("a"), "carol"}).at(0).at(0), std::nullopt);
}

TEST_P(PostgresPortTest, PermitsAreAsManyAsTheySay) {
  take({.owner = "alice", .claim = "p2"});
  take({.owner = "bob", .claim = "p2"});
  EXPECT_EQ(outcome({.owner = "carol", .claim = "p2"}), "busy");
  EXPECT_EQ(outcome({.owner = "carol", .claim = "p3"}), "permits");
  EXPECT_EQ(outcome({.owner = "carol", .claim = "x"}), "busy");
}

TEST_P(PostgresPortTest, AHolderThatVanishedLeavesTheLockClosed) {
  take({.owner = "alice", .ttl = "0", .delay = "60000"});
  EXPECT_EQ(outcome({.owner = "bob"}), "busy");
  const Rows rows = talks_.ask(kInspectStatement, {at("a")});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows.front().at(0), "delay");
  EXPECT_FALSE(release("alice"));
  EXPECT_EQ(outcome({.owner = "bob"}), "busy") << "who vanished does not open it";
  EXPECT_EQ(talks_.ask(kBreakStatement, {at("a"), "test"}), Rows{Row(3)});
  EXPECT_EQ(outcome({.owner = "bob"}), "granted");
}

TEST_P(PostgresPortTest, RenewalNeverBringsALeaseBack) {
  const std::uint64_t token = take({.owner = "alice"});
  EXPECT_EQ(renew("alice", token), "renewed");
  EXPECT_EQ(renew("alice", token + 1), "gone");
  EXPECT_EQ(renew("bob", token), "gone");
  EXPECT_EQ(renew("alice", token, "1"), "renewed") << "and never shortens one";
  release("alice");
  EXPECT_EQ(renew("alice", token), "gone");
  EXPECT_EQ(outcome({.owner = "bob"}), "granted");
}

TEST_P(PostgresPortTest, ALeaseOfAnEarlierTimelineWasLostInAFailover) {
  EXPECT_EQ(renew("alice", 7), "failed_over");
}

TEST_P(PostgresPortTest, WhatIsEndedByForceIsToldAndRemembered) {
  PostgresTalk& alice = talks_.attend();
  PostgresTalk& bob = talks_.attend();
  const std::uint64_t token = take({.owner = "alice", .session = alice.number});
  acquire({.owner = "bob", .session = bob.number, .waits = "t"});
  EXPECT_EQ(talks_.ask(kBreakStatement, {at("a"), "test"}),
            (Rows{{"alice", std::to_string(token), "note of alice"}}));
  EXPECT_EQ(talks_.next_notice(alice), "broken alice");
  EXPECT_EQ(talks_.next_notice(bob), "granted bob " + token_of("bob"));
  EXPECT_EQ(renew("alice", token), "broken");
}

TEST_P(PostgresPortTest, RefreshAnswersForEachInTheirOrder) {
  const std::uint64_t token = take({.owner = "alice"});
  const Rows rows = talks_.ask(kRefreshStatement,
                               {array_text({at("b"), at("a"), at("a")}),
                                array_text({"bob", "bob", "alice"}),
                                array_text({"60000", "60000", "60000"}),
                                array_text({"say \"hi\" \\", "", ""}),
                                array_text({"x", "x", "x"}),
                                array_text({"0", "0", "0"}),
                                std::nullopt});
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].at(0), "granted");
  EXPECT_EQ(rows[1].at(0), "queued");
  EXPECT_EQ(rows[2].at(1), std::to_string(token));
  EXPECT_EQ(talks_.ask(kInspectStatement, {at("b")}).at(0).at(2), "say \"hi\" \\");
}

TEST_P(PostgresPortTest, ShowsWhoHoldsAndWhoWaits) {
  take({.owner = "alice", .claim = "s"});
  acquire({.owner = "bob", .waits = "t"});
  const Rows rows = talks_.ask(kListStatement, {at("")});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].at(0), at("a"));
  EXPECT_EQ(rows[0].at(1), "holder");
  EXPECT_EQ(rows[0].at(4), "s");
  EXPECT_EQ(rows[1].at(1), "waiter");
  EXPECT_EQ(rows[1].at(2), "bob");
  EXPECT_EQ(rows[1].at(5), std::nullopt);
}

TEST_P(PostgresPortTest, ExtendsAndNeverShortens) {
  EXPECT_EQ(talks_.ask(kExtendStatement, {at("a"), "alice", "1000"}), Rows{Row(1)});
  take({.owner = "alice"});
  const Rows longer = talks_.ask(kExtendStatement, {at("a"), "alice", "120000"});
  EXPECT_GT(std::stol(longer.at(0).at(0).value_or("0")), 100'000);
  const Rows shorter = talks_.ask(kExtendStatement, {at("a"), "alice", "1"});
  EXPECT_GT(std::stol(shorter.at(0).at(0).value_or("0")), 100'000 - 30'000);
}

}  // namespace
}  // namespace holdfast::ports
