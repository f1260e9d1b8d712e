// Timelines: every event in words, and the story without the messages.

#include "sim/timeline.h"

#include <gtest/gtest.h>

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;

constexpr HostId kResource{0};
constexpr HostId kNode{1};
constexpr HostId kClient{2};

TimePoint at(Duration time) { return TimePoint{time}; }

SeedReport report_of(std::vector<Event> events) {
  SeedReport report;
  report.trace = std::move(events);
  report.hosts = {{kResource, "resource"}, {kNode, "node1"}, {kClient, "client1"}};
  return report;
}

std::string words_of(Event event) {
  return timeline(report_of({std::move(event)}), Detail::everything).at(0).words;
}

TEST(SimTimelineTest, MessagesHaveADirectionAndANumber) {
  EXPECT_EQ(words_of({at(1ms), EventKind::sent, kClient, kNode, 31, ""}),
            "client1 → node1 request #31 leaves");
  EXPECT_EQ(words_of({at(1ms), EventKind::lost, kNode, kClient, 31, ""}),
            "client1 → node1 request #31 lost");
  EXPECT_EQ(words_of({at(1ms), EventKind::repeated, kClient, kNode, 31, ""}),
            "client1 → node1 request #31 sent twice");
  EXPECT_EQ(words_of({at(1ms), EventKind::arrived, kClient, kNode, 31, ""}),
            "node1 → client1 reply #31 arrives");
}

TEST(SimTimelineTest, ServersSayWhatTheyDidForWhom) {
  EXPECT_EQ(words_of({at(1ms), EventKind::ran, kNode, kClient, 31, "redlock-take {1, 7}"}),
            "node1 runs redlock-take of client1 #31 → {1, 7}");
  EXPECT_EQ(words_of({at(1ms), EventKind::served, kResource, kClient, 9, "write"}),
            "resource accepts write of client1");
  EXPECT_EQ(words_of({at(1ms), EventKind::found_stale, kResource, kClient, 9, "write"}),
            "resource refuses write of client1: stale");
}

TEST(SimTimelineTest, ClientsSayWhatBecameOfTheirLeases) {
  EXPECT_EQ(words_of({at(1ms), EventKind::asked, kClient, {}, 0, "ledger"}),
            "client1 asks for ledger");
  EXPECT_EQ(words_of({at(1ms), EventKind::granted, kClient, {}, 7, "ledger"}),
            "client1 is granted ledger with token 7");
  EXPECT_EQ(words_of({at(1ms), EventKind::granted, kClient, {}, 0, "ledger"}),
            "client1 is granted ledger");
  EXPECT_EQ(words_of({at(1ms), EventKind::refused, kClient, {}, 0, "busy"}),
            "client1 is refused: busy");
  EXPECT_EQ(words_of({at(1ms), EventKind::released, kClient, {}, 7, "unknown"}),
            "client1 gives up its lease with token 7: unknown");
  EXPECT_EQ(words_of({at(1ms), EventKind::warned, kClient, {}, 0, "lost expired"}),
            "client1 is told that its lease is lost (expired)");
  EXPECT_EQ(words_of({at(1ms), EventKind::warned, kClient, {}, 0, "jeopardy none"}),
            "client1 is told that its lease is in jeopardy");
}

TEST(SimTimelineTest, FaultsAreNamed) {
  EXPECT_EQ(words_of({at(1ms), EventKind::paused, kClient, {}, 0, ""}), "client1 is paused");
  EXPECT_EQ(words_of({at(1ms), EventKind::crashed, kNode, {}, 0, ""}), "node1 crashes");
  EXPECT_EQ(words_of({at(1ms), EventKind::started, kNode, {}, 0, "replica"}),
            "node1 starts again (replica)");
  EXPECT_EQ(words_of({at(1ms), EventKind::cut, kClient, kNode, 0, "clogged"}),
            "client1 → node1 is cut (clogged)");
  EXPECT_EQ(words_of({at(1ms), EventKind::clock_changed, kNode, {}, 0, ""}),
            "the clock of node1 is stepped");
  EXPECT_EQ(words_of({at(1ms), EventKind::member_changed, kNode, {}, 0, "leads"}), "node1 leads");
  EXPECT_EQ(words_of({at(1ms), EventKind::healed, {}, {}, 0, ""}), "everything is healed");
}

TEST(SimTimelineTest, TheStoryLeavesMessagesOutUnlessTheyWereLost) {
  const SeedReport report = report_of({{at(1ms), EventKind::asked, kClient, {}, 0, "ledger"},
                                       {at(1ms), EventKind::sent, kClient, kNode, 1, ""},
                                       {at(2ms), EventKind::arrived, kNode, kClient, 1, ""},
                                       {at(2ms), EventKind::ran, kNode, kClient, 1, "take 1"},
                                       {at(3ms), EventKind::lost, kClient, kNode, 1, ""}});
  EXPECT_EQ(timeline(report, Detail::everything).size(), 5U);
  const auto story = timeline(report, Detail::story);
  ASSERT_EQ(story.size(), 2U);
  EXPECT_EQ(to_text(story[0]), "     1.000 ms  client1 asks for ledger");
  EXPECT_EQ(to_text(story[1]), "     3.000 ms  node1 → client1 reply #1 lost");
}

TEST(SimTimelineTest, TheStoryTellsAttemptsInVainTogether) {
  const SeedReport report = report_of({{at(1ms), EventKind::asked, kClient, {}, 0, "ledger"},
                                       {at(2ms), EventKind::refused, kClient, {}, 0, "busy"},
                                       {at(3ms), EventKind::asked, kClient, {}, 0, "ledger"},
                                       {at(4ms), EventKind::refused, kClient, {}, 0, "busy"},
                                       {at(5ms), EventKind::asked, kClient, {}, 0, "ledger"},
                                       {at(6ms), EventKind::granted, kClient, {}, 7, "ledger"},
                                       {at(7ms), EventKind::asked, kClient, {}, 0, "report"},
                                       {at(8ms), EventKind::refused, kClient, {}, 0, "unavailable"},
                                       {at(9ms), EventKind::asked, kClient, {}, 0, "report"},
                                       {at(9ms), EventKind::refused, kClient, {}, 0, "busy"}});
  std::vector<std::string> told;
  for (const TimelineLine& line : timeline(report, Detail::story)) told.push_back(line.words);
  EXPECT_EQ(told,
            (std::vector<std::string>{"client1 finds ledger taken (2 attempts)",
                                      "client1 asks for ledger",
                                      "client1 is granted ledger with token 7",
                                      "client1 asks for report",
                                      "client1 is refused: unavailable",
                                      "client1 finds report taken"}));
}

TEST(SimTimelineTest, AnAnswerBelongsToTheQuestionAboutItsLock) {
  const SeedReport report =
      report_of({{at(1ms), EventKind::asked, kClient, {}, 0, "ledger"},
                 {at(2ms), EventKind::asked, kClient, {}, 0, "report"},
                 {at(3ms), EventKind::granted, kClient, {}, 7, "report"},
                 {at(4ms), EventKind::refused, kClient, {}, 0, "busy ledger"}});
  std::vector<std::string> told;
  for (const TimelineLine& line : timeline(report, Detail::story)) told.push_back(line.words);
  EXPECT_EQ(told,
            (std::vector<std::string>{"client1 asks for report",
                                      "client1 is granted report with token 7",
                                      "client1 finds ledger taken"}));
}

TEST(SimTimelineTest, AHostNobodyNamedIsNoReasonToFail) {
  EXPECT_EQ(words_of({at(1ms), EventKind::paused, HostId{30}, {}, 0, ""}), "? is paused");
}

TEST(SimTimelineTest, ARealRunIsToldWhole) {
  const SeedOptions options{.protocol = find_protocol("redlock"), .trace = Trace::Keep::events};
  const SeedReport report = run_seed(1, options);
  const auto lines = timeline(report, Detail::everything);
  EXPECT_EQ(lines.size(), report.events);
  for (const TimelineLine& line : lines) {
    EXPECT_EQ(line.words.find('?'), std::string::npos) << line.words;
  }
}

}  // namespace
}  // namespace holdfast::sim
