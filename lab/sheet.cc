#include "lab/sheet.h"

#include <fmt/format.h>

#include "lab/scene_picture.h"

namespace holdfast::lab {
namespace {

constexpr double kWidth = 1640;
constexpr double kMargin = 40;
constexpr double kBetween = 24;
constexpr double kHeading = 150;
constexpr double kRowHeading = 66;
constexpr double kPanelWidth = (kWidth - 2 * kMargin - kBetween) / 2;

struct Row {
  std::string title;
  std::string text;
  std::vector<Panel> panels{};
};

struct Sheet {
  std::string title;
  std::string lead;
  std::vector<Row> rows{};
};

double draw_legend_item(Svg& svg, double x, std::string_view kind, std::string_view text) {
  const double y = 122;
  if (kind == "paused") {
    svg.rect({x, y - 10, 28, 14}, "a", 4);
    svg.rect({x, y - 10, 28, 14}, "paused", 4);
  } else if (kind == "a" || kind == "both") {
    svg.rect({x, y - 10, 28, 14}, kind, 4);
  } else {
    svg.arrow({x, y - 3}, {x + 28, y - 3}, kind);
  }
  svg.text({x + 36, y + 1}, text, "soft");
  return x + 36 + text_width(text, 11.5) + 26;
}

void draw_legend(Svg& svg) {
  double x = kMargin;
  x = draw_legend_item(svg, x, "a", "believes that it holds the lock");
  x = draw_legend_item(svg, x, "paused", "stopped by SIGSTOP");
  x = draw_legend_item(svg, x, "both", "both believe it");
  x = draw_legend_item(svg, x, "open", "opens: shows its token");
  x = draw_legend_item(svg, x, "read", "reads");
  x = draw_legend_item(svg, x, "accepted", "write accepted");
  x = draw_legend_item(svg, x, "refused", "write refused");
  svg.text({x, 123}, "Long waits are drawn shorter. Tokens without their common digits.", "soft");
}

Picture draw_sheet(const Sheet& sheet) {
  const double row_height = kRowHeading + kPanelHeight + 14;
  const double height = kHeading + row_height * static_cast<double>(sheet.rows.size()) + 24;
  Svg svg{kWidth, height};
  svg.text({kMargin, 56}, sheet.title, "h1");
  svg.text({kMargin, 86}, sheet.lead, "lead");
  draw_legend(svg);
  double y = kHeading;
  for (const Row& row : sheet.rows) {
    svg.text({kMargin, y + 26}, row.title, "h2");
    svg.text({kMargin, y + 48}, row.text, "lead");
    double x = kMargin;
    for (const Panel& panel : row.panels) {
      draw_panel(svg, panel, {x, y + kRowHeading}, kPanelWidth);
      x += kPanelWidth + kBetween;
    }
    y += row_height;
  }
  return {.title = sheet.title, .svg = svg.finish(sheet.title)};
}

Row heading_of(Access access) {
  switch (access) {
    case Access::plain:
      return {"1 · No check", "A lock, and a resource that takes every write."};
    case Access::fenced_writes:
      return {"2 · Fenced writes only",
              "Writes carry the token, and the resource refuses one below the highest that wrote. "
              "B reads before the resource has heard of it."};
    case Access::open_first:
    case Access::compare_and_swap:
      break;
  }
  return {"3 · Open before read",
          "A new holder shows its token before it reads. From then on the resource refuses older "
          "ones."};
}

Panel panel_of(const PauseTake& take) {
  const std::int64_t lost = tally(take.scene).lost;
  return {.title = take.story == PauseStory::late_write
                       ? "A wakes after B has written"
                       : "A's write arrives between B's read and B's write",
          .verdict = lost_words(lost),
          .tone = lost == 0 ? Panel::Tone::good : Panel::Tone::bad,
          .scene = take.scene};
}

Panel panel_of(const BankTake& take) {
  const std::int64_t created = take.created();
  std::string title{title_of(take.variant)};
  title.front() = static_cast<char>(title.front() - 'a' + 'A');
  return {.title = std::move(title),
          .verdict =
              fmt::format("{} paid out, {} left: {}",
                          take.paid_out(),
                          take.scene.final_value,
                          created == 0 ? "the books balance" : fmt::format("wrong by {}", created)),
          .tone = created == 0 ? Panel::Tone::good : Panel::Tone::bad,
          .resource = "account",
          .scene = take.scene};
}

}  // namespace

std::string lost_words(std::int64_t lost) {
  if (lost == 0) return "nothing lost";
  return fmt::format("{} {} lost", lost, lost == 1 ? "update" : "updates");
}

Picture draw(const PauseReport& report) {
  Sheet sheet{
      .title = "A holder is paused past its lease",
      .lead = fmt::format("Two processes increment a counter under one lock with a TTL of "
                          "{} ms. A checks its lease, is stopped, and writes when it wakes.",
                          report.ttl.count())};
  for (const PauseTake& take : report.takes) {
    if (take.story == PauseStory::late_write) sheet.rows.push_back(heading_of(take.scene.access));
    sheet.rows.back().panels.push_back(panel_of(take));
  }
  return draw_sheet(sheet);
}

Picture draw(const BankReport& report) {
  Sheet sheet{.title = "Two processes withdraw 80 from an account of 100",
              .lead =
                  "Each reads the balance, decides, writes the new balance, and pays if that "
                  "was accepted."};
  sheet.rows.push_back({"The account checks nothing", "Whoever writes is believed."});
  sheet.rows.push_back(
      {"The account checks", "It compares the token of the lock, or the version that was read."});
  for (const BankTake& take : report.takes) {
    sheet.rows.at(take.must_balance() ? 1 : 0).panels.push_back(panel_of(take));
  }
  return draw_sheet(sheet);
}

}  // namespace holdfast::lab
