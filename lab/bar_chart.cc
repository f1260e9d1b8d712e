#include "lab/bar_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/assert.h"
#include "lab/log_axis.h"
#include "lab/svg.h"

namespace holdfast::lab {
namespace {

constexpr double kWidth = 1120;
constexpr double kMargin = 40;
constexpr double kHeading = 150;
constexpr double kInner = 24;
constexpr double kLeft = kMargin + kInner;
// Leaves room for the words behind the longest bar.
constexpr double kRight = kWidth - kMargin - 190;
constexpr double kBar = 16;
constexpr double kBetweenBars = 5;
constexpr double kName = 20;
constexpr double kBetweenRows = 16;
constexpr double kAxis = 46;
constexpr double kNoteLine = 20;

double row_height(const BarChart& chart) {
  return static_cast<double>(chart.cases.size()) * (kBar + kBetweenBars) + kName + kBetweenRows;
}

double card_height(const BarChart& chart) {
  return row_height(chart) * static_cast<double>(chart.rows.size()) + kAxis + kInner;
}

LogAxis::Range extent(const BarChart& chart) {
  LogAxis::Range range{.least = 1e18, .most = 1};
  for (const BarChart::Row& row : chart.rows) {
    for (const Bar& bar : row.bars) {
      range.least = std::min(range.least, bar.median_ns);
      range.most = std::max(range.most, bar.high_ns);
    }
  }
  // A bar that begins at its own end is none.
  range.least /= 2;
  return range;
}

std::string three_digits(double number) {
  std::string text = fmt::format("{:.{}f}", number, number < 10 ? 2 : number < 100 ? 1 : 0);
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

void draw_scale(Svg& svg, const LogAxis& x, double top, double bottom) {
  for (const int exponent : x.marks(10)) {
    const double time = std::pow(10.0, exponent);
    svg.line({x.at(time), top}, {x.at(time), bottom}, "lane");
    svg.text({x.at(time), bottom + 20}, short_time(time), "soft middle");
  }
}

void draw_row(Svg& svg, const BarChart::Row& row, const LogAxis& x, double y) {
  svg.text({kLeft, y + 12}, row.name, "bold");
  y += kName;
  for (std::size_t i = 0; i < row.bars.size(); ++i) {
    const Bar& bar = row.bars[i];
    const double end = x.at(bar.median_ns);
    const double high = x.at(bar.high_ns);
    const double middle = y + kBar / 2;
    const std::string colour = fmt::format("series-{}", i);
    svg.rect({kLeft, y, end - kLeft, kBar}, colour, 3);
    svg.line({end, middle}, {high, middle}, colour + " curve");
    svg.line({high, middle - 4}, {high, middle + 4}, colour + " curve");
    svg.text({high + 8, middle + 4},
             fmt::format("{}, 99 % {}", short_time(bar.median_ns), short_time(bar.high_ns)),
             "tiny");
    y += kBar + kBetweenBars;
  }
}

void draw_legend(Svg& svg, const BarChart& chart) {
  double x = kMargin;
  for (std::size_t i = 0; i < chart.cases.size(); ++i) {
    svg.rect({x, 112, 28, 14}, fmt::format("series-{}", i), 3);
    svg.text({x + 36, 123}, chart.cases[i], "soft");
    x += 36 + text_width(chart.cases[i], 11.5) + 26;
  }
  svg.text({x, 123}, "Bars end at the median, lines at 99 %. A step is ten times.", "soft");
}

void draw_card(Svg& svg, const BarChart& chart) {
  const Box card{kMargin, kHeading, kWidth - 2 * kMargin, card_height(chart)};
  const double bottom = card.bottom() - kAxis;
  const LogAxis x{extent(chart), kLeft, kRight};
  svg.rect(card, "card", 12);
  draw_scale(svg, x, card.y + 10, bottom);
  double y = card.y + kInner;
  for (const BarChart::Row& row : chart.rows) {
    HOLDFAST_ASSERT(row.bars.size() == chart.cases.size());
    draw_row(svg, row, x, y);
    y += row_height(chart);
  }
}

}  // namespace

Picture draw_bars(const BarChart& chart) {
  const double card = chart.rows.empty() ? 0 : card_height(chart);
  const double notes = kNoteLine * static_cast<double>(chart.notes.size());
  Svg svg{kWidth, kHeading + card + notes + 50};
  svg.text({kMargin, 56}, chart.title, "h1");
  svg.text({kMargin, 86}, chart.lead, "lead");
  if (!chart.rows.empty()) {
    draw_legend(svg, chart);
    draw_card(svg, chart);
  }
  double y = kHeading + card + 32;
  for (const std::string& note : chart.notes) {
    svg.text({kMargin, y}, note, "soft");
    y += kNoteLine;
  }
  return {.title = chart.title, .svg = svg.finish(chart.title)};
}

std::string short_time(double ns) {
  if (ns < 1e3) return three_digits(ns) + " ns";
  if (ns < 1e6) return three_digits(ns / 1e3) + " us";
  if (ns < 1e9) return three_digits(ns / 1e6) + " ms";
  return three_digits(ns / 1e9) + " s";
}

}  // namespace holdfast::lab
