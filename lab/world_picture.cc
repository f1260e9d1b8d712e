#include "lab/world_picture.h"

#include <fmt/format.h>

#include <algorithm>

#include "lab/world_marks.h"
#include "sim/faults/fault_list.h"

namespace holdfast::lab {
namespace {

constexpr double kPageWidth = 1640;
constexpr double kPageMargin = 40;
constexpr double kLeadLine = 21;
// Bold letters are wider than most.
constexpr double kLeadSize = 18;

// As many words to a line as fit.
std::vector<std::string> wrapped(std::string_view text, double width) {
  std::vector<std::string> lines;
  std::string line;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    if (!line.empty() && text_width(line, kLeadSize) + text_width(word, kLeadSize) > width) {
      lines.push_back(std::move(line));
      line.clear();
    }
    line += (line.empty() ? "" : " ") + std::string{word};
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (!line.empty()) lines.push_back(std::move(line));
  return lines;
}

std::vector<std::string> verdict_of(const sim::SeedReport& report) {
  if (report.violations.empty()) return {"Every promise was kept."};
  std::vector<std::string> lines;
  // One is enough to look at; the others are in the text.
  const sim::Violation& first = report.violations.front();
  for (std::string& line :
       wrapped(fmt::format("{} is broken: {}", first.checker, first.what), kPageWidth - 100)) {
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string extent_of(const sim::SeedReport& report, const WorldScene& scene) {
  const std::string faults = fmt::format("Faults: {}.", sim::to_list(report.drawn));
  if (scene.events.size() == scene.events_in_all) {
    return fmt::format("All {} events. {}", scene.events_in_all, faults);
  }
  return fmt::format(
      "The last {} of {} events. {}", scene.events.size(), scene.events_in_all, faults);
}

double draw_key(Svg& svg, Point at, std::string_view kind, std::string_view text) {
  const auto [x, y] = at;
  if (kind == "paused" || kind == "down") {
    svg.rect({x, y - 10, 28, 14}, kind == "down" ? "down" : "a", 4);
    svg.rect({x, y - 10, 28, 14}, kind, 4);
  } else if (kind == "a" || kind == "b" || kind == "both") {
    svg.rect({x, y - 10, 28, 14}, kind, 4);
  } else if (kind == "edge") {
    svg.line({x, y - 3}, {x + 28, y - 3}, "edge");
  } else {
    svg.arrow({x, y - 3}, {x + 28, y - 3}, kind);
  }
  svg.text({x + 36, y + 1}, text, "soft");
  return x + 36 + text_width(text, 11.5) + 24;
}

void draw_keys(Svg& svg, const WorldScene& scene, double y) {
  double x = kPageMargin;
  for (std::size_t lock = 0; lock < std::min<std::size_t>(scene.locks.size(), 2); ++lock) {
    x = draw_key(svg,
                 {x, y},
                 lock == 0 ? "a" : "b",
                 fmt::format("believes that it holds {}", scene.locks[lock]));
  }
  x = draw_key(svg, {x, y}, "both", "two believe it");
  x = draw_key(svg, {x, y}, "paused", "paused");
  x = draw_key(svg, {x, y}, "down", "down");
  x = draw_key(svg, {x, y}, "message", "message");
  x = draw_key(svg, {x, y}, "edge", "lost message");
  x = draw_key(svg, {x, y}, "open", "open");
  x = draw_key(svg, {x, y}, "accepted", "write accepted");
  draw_key(svg, {x, y}, "refused", "refused");
}

}  // namespace

Picture draw_world(const sim::SeedReport& report, const std::string& title) {
  const WorldScene scene = make_world_scene(report, kWorldEventsMax);
  const auto verdict = verdict_of(report);
  const double heading = 150 + kLeadLine * static_cast<double>(verdict.size());
  const double height = WorldLayout::height_of(report.hosts);
  Svg svg{kPageWidth, heading + height + 30};
  svg.text({kPageMargin, 56}, title, "h1");
  double y = 86;
  for (const std::string& line : verdict) {
    svg.text({kPageMargin, y}, line, report.violations.empty() ? "lead" : "h3 bad-text");
    y += kLeadLine;
  }
  svg.text({kPageMargin, y}, extent_of(report, scene), "lead");
  draw_keys(svg, scene, y + 34);
  const WorldLayout at{
      scene, report.hosts, {kPageMargin, heading, kPageWidth - 2 * kPageMargin, height}};
  draw_world_marks(svg, report, scene, at);
  return {.title = title, .svg = svg.finish(title)};
}

}  // namespace holdfast::lab
