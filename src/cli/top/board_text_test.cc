#include "cli/top/board_text.h"

#include <gtest/gtest.h>

namespace holdfast::cli {
namespace {

std::string plain(std::string_view text, Tone) { return std::string{text}; }

BoardRow row(std::string name) {
  BoardRow row{};
  row.lock.name = std::move(name);
  Contender holder{};
  holder.host = "alpha";
  holder.pid = 42;
  holder.label = "nightly";
  row.lock.holders.push_back(holder);
  return row;
}

TEST(BoardTextTest, RowSaysWhoHoldsAndHowLongOthersWait) {
  BoardRow busy = row("deploy");
  busy.lock.waiters.resize(2);
  busy.longest_wait = Millis{1500};
  busy.longest_hold = Millis{60'000};
  busy.hand_overs_s = 0.25;
  const auto lines = board_lines({.engine = "local:/x"}, {busy}, {.columns = 200}, plain);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_NE(lines[0].find("1 locks, 1 contended, 2 waiting  local:/x"), std::string::npos);
  EXPECT_EQ(lines[2],
            "deploy        exclusive        1       2      1.5s         0.2        1m  alpha:42 "
            "\"nightly\"");
}

TEST(BoardTextTest, NothingIsWiderOrHigherThanTheScreen) {
  std::vector<BoardRow> rows;
  for (int i = 0; i < 50; ++i) rows.push_back(row(std::string(60, 'n') + std::to_string(i)));
  for (const std::size_t columns : {1, 20, 80}) {
    const auto lines = board_lines({}, rows, {.columns = columns, .lines = 10}, plain);
    EXPECT_EQ(lines.size(), 10u);
    for (const std::string& line : lines) EXPECT_LE(line.size(), columns) << line;
  }
  EXPECT_EQ(board_lines({}, rows, {.columns = 80, .lines = 1}, plain).size(), 3u);
  EXPECT_EQ(board_lines({}, rows, {.columns = 80}, plain).size(), 53u);
}

TEST(BoardTextTest, LettersAreNotCutApart) {
  const auto lines = board_lines({}, {row("ä")}, {.columns = 13, .lines = 10}, plain);
  EXPECT_EQ(lines[2], "ä            ");
}

TEST(BoardTextTest, NamesCannotMoveTheCursor) {
  const auto lines = board_lines({}, {row("a\x1b[2J")}, {.columns = 80}, plain);
  EXPECT_EQ(lines[2].find('\x1b'), std::string::npos);
}

TEST(BoardTextTest, TroubleIsShownInPlaceOfTheFoot) {
  const BoardHead head{.trouble = Error{Errc::unavailable, "no answer"}};
  const auto lines = board_lines(head, {}, {.columns = 80}, plain);
  EXPECT_EQ(lines.back(), "no answer");
}

observe::RefusalRecord refusals() {
  observe::RefusalRecord refusals;
  refusals.add("ledger", 1'000'000);
  refusals.add("config", 1'030'000);
  refusals.add("ledger", 1'090'000);
  refusals.add("audit", 1'100'900);
  return refusals;
}

TEST(BoardTextTest, FootTellsWhatWasRefusedTheLastFirst) {
  const BoardHead head{.wall_ms = 1'100'500, .refusals = refusals()};
  const std::string foot = board_lines(head, {}, {.columns = 200}, plain).back();
  EXPECT_EQ(foot.rfind("Refused stale writes and reads: 4 since 1970-01-", 0), 0u) << foot;
  EXPECT_TRUE(foot.ends_with(", audit 1 (now), ledger 2 (10s ago), config 1 (1m10s ago)")) << foot;
}

TEST(BoardTextTest, NothingRefusedIsNotTheSameAsNotKnown) {
  const BoardHead none{.refusals = observe::RefusalRecord{}};
  EXPECT_EQ(board_lines(none, {}, {.columns = 80}, plain).back(),
            "Refused stale writes and reads: 0");
  EXPECT_EQ(board_lines({}, {}, {.columns = 80}, plain).back(),
            "Refused stale writes and reads: -");
  EXPECT_TRUE(board_json({}, {}).at("stale_refusals").is_null());
  const auto json = board_json(none, {});
  const auto& counted = json.at("stale_refusals").as_object();
  EXPECT_EQ(counted.at("total").to_number<int>(), 0);
  EXPECT_TRUE(counted.at("since_ms").is_null());
  EXPECT_TRUE(counted.at("resources").as_array().empty());
}

TEST(BoardTextTest, JsonHasEveryRefusedResource) {
  const auto json = board_json({.refusals = refusals()}, {});
  const auto& counted = json.at("stale_refusals").as_object();
  EXPECT_EQ(counted.at("total").to_number<int>(), 4);
  EXPECT_EQ(counted.at("since_ms").to_number<int>(), 1'000'000);
  ASSERT_EQ(counted.at("resources").as_array().size(), 3u);
  const auto& second = counted.at("resources").as_array().at(1).as_object();
  EXPECT_EQ(second.at("key").as_string(), "ledger");
  EXPECT_EQ(second.at("count").to_number<int>(), 2);
  EXPECT_EQ(second.at("last_ms").to_number<int>(), 1'090'000);
}

TEST(BoardTextTest, JsonHasEveryContender) {
  const auto json = board_json({.engine = "local:/x", .wall_ms = 7}, {row("deploy")});
  EXPECT_EQ(json.at("time_ms").as_int64(), 7);
  const auto& lock = json.at("locks").as_array().at(0).as_object();
  EXPECT_EQ(lock.at("holders").as_array().size(), 1u);
  EXPECT_TRUE(lock.at("hand_overs_s").is_null());
}

}  // namespace
}  // namespace holdfast::cli
