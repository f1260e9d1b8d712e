// Pictures of simulated worlds: what they show of a trace, and that it stays on the page.

#include "lab/world_picture.h"

#include <gtest/gtest.h>

#include <regex>

#include "lab/world_scene.h"

namespace holdfast::lab {
namespace {

using namespace std::chrono_literals;
using sim::Event;
using sim::EventKind;
using sim::HostId;

constexpr HostId kResource{0};
constexpr HostId kNode{1};
constexpr HostId kOne{2};
constexpr HostId kTwo{3};

Event event(
    Duration when, EventKind kind, HostId host, HostId peer = {}, std::uint64_t number = 0) {
  return {TimePoint{when}, kind, host, peer, number, ""};
}

Event granted(Duration when, HostId host, std::uint64_t token) {
  return {TimePoint{when}, EventKind::granted, host, {}, token, "ledger"};
}

sim::SeedReport report_of(std::vector<Event> events) {
  sim::SeedReport report{.seed = 4};
  report.trace = std::move(events);
  report.hosts = {{kResource, "resource"}, {kNode, "node1"}, {kOne, "client1"}, {kTwo, "client2"}};
  return report;
}

// client1 is granted the lock, paused, and client2 is granted it too.
sim::SeedReport overtaken() {
  return report_of({event(1ms, EventKind::sent, kOne, kNode, 1),
                    event(2ms, EventKind::arrived, kNode, kOne, 1),
                    granted(3ms, kOne, 7),
                    event(4ms, EventKind::paused, kOne),
                    granted(10ms, kTwo, 8),
                    event(12ms, EventKind::resumed, kOne),
                    event(13ms, EventKind::sent, kOne, kNode, 2),
                    event(13ms, EventKind::lost, kNode, kOne, 2),
                    event(14ms, EventKind::released, kTwo, {}, 8),
                    event(15ms, EventKind::released, kOne, {}, 7),
                    event(16ms, EventKind::crashed, kNode)});
}

TEST(WorldSceneTest, KnowsWhoBelievedWhatAndWhen) {
  const WorldScene scene = make_world_scene(overtaken(), 100);
  EXPECT_EQ(scene.locks, std::vector<std::string>{"ledger"});
  ASSERT_EQ(scene.holdings.size(), 2U);
  EXPECT_EQ(scene.holdings[0].token, 8U);
  EXPECT_EQ(scene.holdings[0].when.from, 10ms);
  EXPECT_EQ(scene.holdings[1].when.from, 3ms);
  EXPECT_EQ(scene.holdings[1].when.to, 15ms);
  const auto both = conflicts(scene.holdings);
  ASSERT_EQ(both.size(), 1U);
  EXPECT_EQ(both[0].from, 10ms);
  EXPECT_EQ(both[0].to, 14ms);
}

TEST(WorldSceneTest, PairsMessagesAndFindsPausesAndOutages) {
  const WorldScene scene = make_world_scene(overtaken(), 100);
  ASSERT_EQ(scene.letters.size(), 2U);
  EXPECT_EQ(scene.letters[0].from, kOne);
  EXPECT_EQ(scene.letters[0].sent, 1ms);
  EXPECT_EQ(scene.letters[0].ended, 2ms);
  EXPECT_EQ(scene.letters[1].fate, Letter::Fate::lost);
  ASSERT_EQ(scene.pauses.size(), 1U);
  EXPECT_EQ(scene.pauses[0].to, 12ms);
  ASSERT_EQ(scene.outages.size(), 1U);
  EXPECT_EQ(scene.outages[0].to, scene.after);
}

TEST(WorldSceneTest, WhatBeganBeforeTheShownPartIsShownFromItsBeginning) {
  const WorldScene scene = make_world_scene(overtaken(), 6);
  EXPECT_EQ(scene.events.size(), 6U);
  EXPECT_EQ(scene.events_in_all, 11U);
  EXPECT_EQ(scene.begin, 12ms);
  ASSERT_EQ(scene.holdings.size(), 2U);
  for (const Holding& holding : scene.holdings) EXPECT_EQ(holding.when.from, 12ms);
  EXPECT_EQ(scene.letters.size(), 1U);
}

TEST(WorldSceneTest, ACrashEndsWhatAClientBelieved) {
  const WorldScene scene =
      make_world_scene(report_of({granted(1ms, kOne, 7), event(5ms, EventKind::crashed, kOne)}), 9);
  ASSERT_EQ(scene.holdings.size(), 1U);
  EXPECT_EQ(scene.holdings[0].when.to, 5ms);
}

TEST(WorldPictureTest, NamesTheBrokenPromiseAndMarksWhere) {
  sim::SeedReport report = overtaken();
  report.violations = {{"L1", "client1 & client2 held <ledger>"}};
  const Picture picture = draw_world(report, "redlock, seed 4");
  EXPECT_NE(picture.svg.find("L1 is broken: client1 &amp; client2 held &lt;ledger&gt;"),
            std::string::npos);
  EXPECT_NE(picture.svg.find("class=\"broken\""), std::string::npos);
  EXPECT_NE(picture.svg.find("both believe that they hold ledger"), std::string::npos);
  const Picture kept = draw_world(overtaken(), "redlock, seed 4");
  EXPECT_NE(kept.svg.find("Every promise was kept."), std::string::npos);
  EXPECT_EQ(kept.svg.find("class=\"broken\""), std::string::npos);
}

TEST(WorldPictureTest, NothingToShowIsNoReasonToFail) {
  EXPECT_NE(draw_world(report_of({}), "empty").svg.find("</svg>"), std::string::npos);
}

void expect_on_the_page(const std::string& svg) {
  std::smatch size;
  ASSERT_TRUE(std::regex_search(svg, size, std::regex{"viewBox=\"0 0 ([0-9]+) ([0-9]+)\""}));
  const double width = std::stod(size[1]);
  const double height = std::stod(size[2]);
  static const std::regex place{" (x1|x2|cx|x|y1|y2|cy|y)=\"(-?[0-9.]+)\""};
  for (std::sregex_iterator it{svg.begin(), svg.end(), place}, end; it != end; ++it) {
    const double value = std::stod((*it)[2]);
    EXPECT_GE(value, 0) << it->str();
    EXPECT_LE(value, it->str(1).find('x') != std::string::npos ? width : height) << it->str();
  }
}

TEST(WorldPictureTest, WhereTwoHoldALockIsOnTheirLanes) {
  const std::string svg = draw_world(overtaken(), "redlock").svg;
  expect_on_the_page(svg);
  // After the one of the legend.
  const auto both = svg.find("class=\"both\"", svg.find("class=\"card\""));
  ASSERT_NE(both, std::string::npos);
  std::smatch place;
  const std::string rest = svg.substr(both, 120);
  ASSERT_TRUE(
      std::regex_search(rest, place, std::regex{" y=\"([0-9.]+)\".* height=\"([0-9.]+)\""}));
  EXPECT_GT(std::stod(place[1]), 150);
  EXPECT_GT(std::stod(place[2]), 44);
}

TEST(WorldSceneTest, ABreachByTheLastEventIsSeen) {
  const WorldScene scene =
      make_world_scene(report_of({granted(1ms, kOne, 7), granted(5ms, kTwo, 8)}), 9);
  const auto both = conflicts(scene.holdings);
  ASSERT_EQ(both.size(), 1U);
  EXPECT_EQ(both[0].from, 5ms);
  EXPECT_GT(both[0].to, 5ms);
}

TEST(WorldPictureTest, ARealWorldStaysOnThePage) {
  const sim::SeedOptions options{.protocol = sim::find_protocol("redlock"),
                                 .trace = sim::Trace::Keep::events};
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    expect_on_the_page(draw_world(sim::run_seed(seed, options), "redlock").svg);
  }
}

}  // namespace
}  // namespace holdfast::lab
