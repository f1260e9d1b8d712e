#include <fmt/format.h>

#include <boost/json/array.hpp>

#include "cli/lab/reports.h"

namespace holdfast::cli {
namespace {

constexpr std::int64_t kBarColumns = 40;

std::string repeated(std::string_view text, std::int64_t times) {
  std::string result;
  for (std::int64_t n = 0; n < times; ++n) result += text;
  return result;
}

// What is lost is seen, however little it is.
std::string bar(Console& console, const lab::NaiveRun& run) {
  std::int64_t lost = run.attempted() == 0 ? 0 : kBarColumns * run.lost() / run.attempted();
  if (run.lost() > 0 && lost == 0) lost = 1;
  return console.paint(repeated("█", kBarColumns - lost), Tone::good) +
         console.paint(repeated("░", lost), Tone::bad);
}

void print_run(Console& console, const lab::NaiveRun& run, std::string_view title) {
  console.print(fmt::format(
      "{:<16}{}  {:>9}{:>9}  {}",
      title,
      bar(console, run),
      run.attempted(),
      run.final_value,
      console.paint(fmt::format("{:>6}", run.lost()), run.lost() == 0 ? Tone::good : Tone::bad)));
}

boost::json::object run_json(const lab::NaiveRun& run) {
  boost::json::array accepted;
  for (const std::int64_t count : run.accepted) accepted.emplace_back(count);
  return {{"lock", lab::to_string(run.guard)},
          {"rounds", run.rounds},
          {"runs", run.runs},
          {"attempted", run.attempted()},
          {"final", run.final_value},
          {"lost", run.lost()},
          {"accepted", std::move(accepted)}};
}

}  // namespace

void print(Console& console, const lab::NaiveReport& report) {
  console.print(fmt::format("{} processes increment one counter {} times each\n",
                            report.naive.accepted.size(),
                            report.naive.rounds));
  console.print(
      fmt::format("{:<16}{:<40}  {:>9}{:>9}  {:>6}", "lock", "", "attempted", "counter", "lost"));
  print_run(console, report.naive, "check, then set");
  print_run(console, report.holdfast, "Holdfast");
}

boost::json::object to_json(const lab::NaiveReport& report) {
  return {{"demo", "naive"},
          {"processes", report.naive.accepted.size()},
          {"runs", boost::json::array{run_json(report.naive), run_json(report.holdfast)}}};
}

}  // namespace holdfast::cli
