#include "cli/compare/compare_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <thread>

#include "cli/text.h"
#include "lab/bar_chart.h"

namespace holdfast::cli {
namespace {

using lab::short_time;

constexpr std::string_view kPair = "acquire+release";
constexpr std::string_view kHandOver = "hand-over";

std::size_t name_width(const bench::Comparison& comparison) {
  std::size_t width = 18;
  for (const bench::Measured& one : comparison.measured) {
    width = std::max(width, printable(one.engine).size());
  }
  return width;
}

void print_table(Console& console, const bench::Comparison& comparison) {
  const std::size_t width = name_width(comparison);
  const auto line = [&](auto engine, auto pair, auto pair_99, auto over, auto over_99) {
    return fmt::format(
        "{:<{}}{:>12}{:>12}{:>14}{:>12}", engine, width, pair, pair_99, over, over_99);
  };
  console.print(fmt::format("{:<{}}{:>24}{:>26}", "", width, kPair, kHandOver));
  console.print(console.paint(line("engine", "median", "99 %", "median", "99 %"), Tone::faint));
  for (const bench::Measured& one : comparison.measured) {
    const bench::Timing& pair = one.figures.pair.timing;
    const bench::Timing& over = one.figures.hand_over.timing;
    console.print(line(printable(one.engine),
                       short_time(pair.p50_ns),
                       short_time(pair.p99_ns),
                       short_time(over.p50_ns),
                       short_time(over.p99_ns)));
  }
}

boost::json::object case_json(std::string_view name, const bench::Figure& figure) {
  return {{"name", name},
          {"ops_s", 1e9 / figure.timing.p50_ns},
          {"p50_ns", figure.timing.p50_ns},
          {"p99_ns", figure.timing.p99_ns},
          {"samples", figure.samples}};
}

lab::Bar bar_of(const bench::Figure& figure) {
  return {.median_ns = figure.timing.p50_ns, .high_ns = figure.timing.p99_ns};
}

unsigned cores() { return std::thread::hardware_concurrency(); }

}  // namespace

void print(Console& console, const bench::Comparison& comparison) {
  if (!comparison.measured.empty()) print_table(console, comparison);
  for (const bench::Missing& one : comparison.missing) {
    console.print(fmt::format("{:<18}{} {}",
                              printable(one.engine),
                              console.paint("not measured:", Tone::waiting),
                              printable(one.error.message)));
    console.print(fmt::format("{:<18}{}", "", printable(one.error.remedy())));
  }
  if (comparison.measured.empty()) return;
  console.print(fmt::format(
      "\nacquire+release: one caller, and nobody else wants the lock.\n"
      "hand-over: from release() in one process to the return of acquire() in one that waits.\n"
      "On {} cores. Servers that were started here are on loopback with their data in memory:\n"
      "a network and a disk come on top.",
      cores()));
}

boost::json::object to_json(const bench::Comparison& comparison) {
  boost::json::array engines;
  for (const bench::Measured& one : comparison.measured) {
    engines.push_back(
        boost::json::object{{"engine", to_utf8(one.engine)},
                            {"cases",
                             boost::json::array{case_json(kPair, one.figures.pair),
                                                case_json(kHandOver, one.figures.hand_over)}}});
  }
  boost::json::array missing;
  for (const bench::Missing& one : comparison.missing) {
    missing.push_back(boost::json::object{{"engine", to_utf8(one.engine)},
                                          {"code", to_string(one.error.code)},
                                          {"message", to_utf8(one.error.message)},
                                          {"remedy", to_utf8(one.error.remedy())}});
  }
  return {{"cores", cores()}, {"engines", std::move(engines)}, {"missing", std::move(missing)}};
}

lab::Picture draw(const bench::Comparison& comparison) {
  lab::BarChart chart{
      .title = "Engines side by side",
      .lead = "How long a lock takes without contention, and from one process to the next.",
      .cases = {"acquire and release, one caller", "hand-over to a process that waits"},
      .rows = {},
      .notes = {fmt::format("Measured on {} cores. Servers that were started for it are on "
                            "loopback with their data in memory: a network and a disk come on top.",
                            cores())}};
  for (const bench::Measured& one : comparison.measured) {
    chart.rows.push_back({.name = printable(one.engine),
                          .bars = {bar_of(one.figures.pair), bar_of(one.figures.hand_over)}});
  }
  for (const bench::Missing& one : comparison.missing) {
    chart.notes.push_back(
        fmt::format("Not measured: {}, {}", printable(one.engine), printable(one.error.message)));
  }
  return lab::draw_bars(chart);
}

}  // namespace holdfast::cli
