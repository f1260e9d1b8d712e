#include "cli/top/lock_board.h"

#include <gtest/gtest.h>

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kStart{1h};

Contender contender(std::string fingerprint, std::uint64_t token, std::int64_t since_ms) {
  Contender one{};
  one.owner_fp = std::move(fingerprint);
  one.token = Token{token};
  one.since_ms = since_ms;
  return one;
}

LockInfo lock(std::string name,
              std::vector<Contender> holders,
              std::vector<Contender> waiters = {}) {
  LockInfo info{};
  info.name = std::move(name);
  info.holders = std::move(holders);
  info.waiters = std::move(waiters);
  return info;
}

std::vector<std::string> names(const LockBoard& board) {
  std::vector<std::string> names;
  for (const BoardRow& row : board.rows()) names.push_back(row.lock.name);
  return names;
}

TEST(LockBoardTest, MostContendedComesFirst) {
  LockBoard board;
  board.look(
      {lock("idle", {contender("a", 1, 0)}),
       lock("short", {contender("b", 2, 0)}, {contender("c", 0, 9'000)}),
       lock("long", {contender("d", 3, 0)}, {contender("e", 0, 1'000)}),
       lock("many", {contender("f", 4, 0)}, {contender("g", 0, 9'900), contender("h", 0, 0)}),
       lock("also idle", {contender("i", 5, 0)})},
      kStart,
      10'000);
  EXPECT_EQ(names(board), (std::vector<std::string>{"many", "long", "short", "also idle", "idle"}));
}

TEST(LockBoardTest, TimesCountFromWhenTheyBegan) {
  LockBoard board;
  board.look(
      {lock("x",
            {contender("a", 1, 4'000)},
            {contender("b", 0, 7'000), contender("c", 0, 9'000), contender("d", 0, 99'000)})},
      kStart,
      10'000);
  EXPECT_EQ(board.rows()[0].longest_wait, 3s);
  EXPECT_EQ(board.rows()[0].longest_hold, 6s);
}

TEST(LockBoardTest, HandOversAreThoseSeenBetweenLooks) {
  LockBoard board;
  board.look({lock("x", {contender("a", 1, 0)})}, kStart, 0);
  EXPECT_EQ(board.rows()[0].hand_overs_s, std::nullopt);
  board.look({lock("x", {contender("a", 1, 0)})}, kStart + 1s, 0);
  EXPECT_EQ(board.rows()[0].hand_overs_s, 0);
  board.look({lock("x", {contender("b", 2, 0)})}, kStart + 2s, 0);
  EXPECT_EQ(board.rows()[0].hand_overs_s, 0.5);
  for (int second = 3; second < 30; ++second) {
    board.look({lock("x", {contender("b", 2, 0)})}, kStart + std::chrono::seconds{second}, 0);
  }
  EXPECT_EQ(board.rows()[0].hand_overs_s, 0);
}

TEST(LockBoardTest, LockThatWasFreeInBetweenWasHandedOver) {
  LockBoard board;
  board.look({lock("x", {contender("a", 1, 0)})}, kStart, 0);
  board.look({}, kStart + 1s, 0);
  EXPECT_TRUE(board.rows().empty());
  board.look({lock("x", {contender("b", 2, 0)})}, kStart + 2s, 0);
  EXPECT_EQ(board.rows()[0].hand_overs_s, 0.5);
  board.look({}, kStart + 3s, 0);
  board.look({lock("x", {contender("b", 3, 0)})}, kStart + 4s, 0);
  EXPECT_EQ(board.rows()[0].hand_overs_s, 0.5) << "the same owner, with a higher token";
}

TEST(LockBoardTest, HolderThatOneLookMissedIsNotCountedAgain) {
  LockBoard board;
  board.look({lock("x", {contender("a", 1, 0)})}, kStart, 0);
  board.look({}, kStart + 1s, 0);
  board.look({lock("x", {}, {contender("b", 0, 0)})}, kStart + 2s, 0);
  board.look({lock("x", {contender("a", 1, 0)})}, kStart + 3s, 0);
  EXPECT_EQ(board.rows()[0].hand_overs_s, 0);
}

TEST(LockBoardTest, LockThatWasFreeForLongBeginsAnew) {
  LockBoard board;
  board.look({lock("x", {contender("a", 1, 0)})}, kStart, 0);
  board.look({}, kStart + 9s, 0);
  board.look({}, kStart + 10s, 0);
  board.look({lock("x", {contender("b", 2, 0)})}, kStart + 11s, 0);
  EXPECT_EQ(board.rows()[0].hand_overs_s, std::nullopt);
}

}  // namespace
}  // namespace holdfast::cli
