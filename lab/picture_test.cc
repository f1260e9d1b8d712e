// Pictures are well formed, self-contained, and within their frames.

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <string>
#include <vector>

#include "lab/bar_chart.h"
#include "lab/quorum_picture.h"
#include "lab/sample_scenes.h"
#include "lab/scene_picture.h"
#include "lab/sheet.h"
#include "lab/svg.h"

namespace holdfast::lab {
namespace {

// Every element that is opened is closed, in order, and no bare '&' is left. Enough for what we
// write; not a parser of XML.
testing::AssertionResult well_formed(const std::string& text) {
  static const std::regex entity{"&(?!(amp|lt|gt|quot|#39);)"};
  if (std::regex_search(text, entity)) return testing::AssertionFailure() << "a bare &";
  std::vector<std::string> open;
  for (auto at = text.find('<'); at != std::string::npos; at = text.find('<', at + 1)) {
    const auto end = text.find('>', at);
    if (end == std::string::npos) return testing::AssertionFailure() << "an open tag";
    const std::string tag = text.substr(at + 1, end - at - 1);
    if (tag.find('<') != std::string::npos) return testing::AssertionFailure() << "a bare <";
    if (std::ranges::count(tag, '"') % 2 != 0) return testing::AssertionFailure() << tag;
    if (tag.starts_with('/')) {
      if (open.empty() || open.back() != tag.substr(1)) {
        return testing::AssertionFailure() << "</" << tag << "> closes nothing";
      }
      open.pop_back();
    } else if (!tag.ends_with('/')) {
      open.push_back(tag.substr(0, tag.find_first_of(" \n")));
    }
  }
  if (open.empty()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "<" << open.back() << "> is not closed";
}

std::vector<double> numbers(const std::string& svg, const std::string& attribute) {
  const std::regex pattern{" " + attribute + "=\"(-?[0-9.]+)\""};
  std::vector<double> found;
  for (std::sregex_iterator it{svg.begin(), svg.end(), pattern}, end; it != end; ++it) {
    found.push_back(std::stod((*it)[1]));
  }
  return found;
}

void expect_within(const std::string& svg, double left, double right, double top, double bottom) {
  for (const char* attribute : {"x", "x1", "x2", "cx"}) {
    for (const double x : numbers(svg, attribute)) {
      EXPECT_GE(x, left) << attribute;
      EXPECT_LE(x, right) << attribute;
    }
  }
  for (const char* attribute : {"y", "y1", "y2", "cy"}) {
    for (const double y : numbers(svg, attribute)) {
      EXPECT_GE(y, top) << attribute;
      EXPECT_LE(y, bottom) << attribute;
    }
  }
}

PauseReport pause_report() {
  return {.ttl = Millis{300},
          .takes = {{PauseStory::late_write, late_write_accepted()},
                    {PauseStory::late_write, late_write_refused()}}};
}

BarChart bars() {
  return {.title = "Engines",
          .lead = "side by side",
          .cases = {"one & only", "hand-over"},
          .rows = {{"local", {{151, 190}, {4'000, 9'000}}}, {"<url>", {{65'000, 7e6}, {1e5, 2e9}}}},
          .notes = {"on this machine"}};
}

TEST(PictureTest, TextIsEscaped) {
  EXPECT_EQ(escape_xml("a<b>&\"c'"), "a&lt;b&gt;&amp;&quot;c&#39;");
  EXPECT_EQ(escape_xml(std::string_view{"a\0b\x1b[31m", 8}), "a?b?[31m");
  EXPECT_EQ(escape_xml("grün …"), "grün …");
  Svg svg{10, 10};
  svg.begin_group("</g><script>");
  svg.text({1, 1}, "</text><script>alert(1)</script>", "h1");
  svg.end_group();
  const std::string text = svg.finish("\"><script>");
  EXPECT_EQ(text.find("<script"), std::string::npos);
  EXPECT_TRUE(well_formed(text));
}

TEST(PictureTest, TheCheckOfTheTestsFindsWhatIsNotWellFormed) {
  EXPECT_FALSE(well_formed("<a><b></a></b>"));
  EXPECT_FALSE(well_formed("<a>"));
  EXPECT_FALSE(well_formed("<a>x & y</a>"));
  EXPECT_TRUE(well_formed("<a><b/>x &amp; y</a>"));
}

TEST(PictureTest, EveryPictureIsWellFormedAndSelfContained) {
  const BankReport bank{.takes = {{BankVariant::unlocked, withdrawn_twice()},
                                  {BankVariant::fenced, late_write_refused()}}};
  const NaiveReport naive{.naive = {Guard::check_then_set, 5, 1, {5, 5}, 7},
                          .holdfast = {Guard::holdfast, 5, 1, {5, 5}, 10}};
  const QuorumPlan quorum{.nodes = {1, 2, 3}, .availabilities = {99, 99.9}};
  for (const Picture& picture :
       {draw(pause_report()), draw(bank), draw(naive), draw_quorum(quorum), draw_bars(bars())}) {
    EXPECT_TRUE(well_formed(picture.svg)) << picture.title;
    const std::string html = to_html(picture);
    EXPECT_NE(html.find(picture.svg), std::string::npos);
    const std::regex reference{"https?://(?!www\\.w3\\.org/2000/svg\")|<script|<link|src=|@import"};
    EXPECT_FALSE(std::regex_search(html, reference)) << picture.title;
    EXPECT_NE(html.find("prefers-color-scheme: dark"), std::string::npos);
  }
}

TEST(PictureTest, APanelStaysWithinItsFrame) {
  for (const Scene& scene :
       {late_write_accepted(), late_write_refused(), withdrawn_twice(), Scene{}}) {
    Svg svg{2000, 2000};
    draw_panel(svg, {.title = "t", .verdict = "v", .scene = scene}, {700, 500}, 760);
    const std::string text = svg.finish("t");
    // What comes before the first shape of the panel belongs to the page.
    const std::string panel = text.substr(text.find("class=\"card\""));
    expect_within(panel, 700, 1460, 500, 500 + kPanelHeight);
  }
}

TEST(PictureTest, CurvesOfMajoritiesStayOnThePage) {
  for (const QuorumPlan& plan :
       {QuorumPlan{.nodes = {3}, .availabilities = {99}},
        QuorumPlan{.nodes = {1, 2, 3, 98, 99}, .availabilities = {0.1, 50}},
        QuorumPlan{.nodes = {1, 99}, .availabilities = {99.9999, 99.999}}}) {
    const std::string svg = draw_quorum(plan).svg;
    expect_within(svg, 0, 1120, 0, 760);
    const auto circles = numbers(svg, "cx").size();
    EXPECT_EQ(circles, (plan.nodes.size() + 1) * plan.availabilities.size());
  }
}

TEST(PictureTest, BarsStayOnThePageAndSayTheirTimes) {
  const std::string svg = draw_bars(bars()).svg;
  expect_within(svg, 0, 1120, 0, 420);
  EXPECT_NE(svg.find("151 ns, 99 % 190 ns"), std::string::npos);
  EXPECT_NE(svg.find("65 us, 99 % 7 ms"), std::string::npos);
  EXPECT_NE(svg.find("one &amp; only"), std::string::npos);
  const std::string empty = draw_bars({.title = "none"}).svg;
  EXPECT_TRUE(well_formed(empty));
  EXPECT_EQ(empty.find("class=\"card\""), std::string::npos);
}

TEST(PictureTest, TimesAreShort) {
  EXPECT_EQ(short_time(151.4), "151 ns");
  EXPECT_EQ(short_time(1000), "1 us");
  EXPECT_EQ(short_time(65'340), "65.3 us");
  EXPECT_EQ(short_time(999'960), "1000 us");
  EXPECT_EQ(short_time(1'234'000), "1.23 ms");
  EXPECT_EQ(short_time(20e9), "20 s");
}

TEST(PictureTest, APanelShowsWhatWasRefusedAndWhatWasLost) {
  Svg lost{800, 400};
  draw_panel(lost, {.scene = late_write_accepted()}, {0, 0}, 760);
  EXPECT_NE(lost.finish("").find("update of B is lost"), std::string::npos);
  EXPECT_NE(lost.finish("").find("both believe"), std::string::npos);
  Svg refused{800, 400};
  draw_panel(refused, {.scene = late_write_refused()}, {0, 0}, 760);
  EXPECT_NE(refused.finish("").find("…0998 &lt; …1003"), std::string::npos);
  EXPECT_EQ(refused.finish("").find("is lost"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::lab
