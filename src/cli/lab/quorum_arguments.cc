#include "cli/lab/quorum_arguments.h"

#include <fmt/format.h>

#include <charconv>
#include <set>

#include "base/decimal.h"
#include "cli/text.h"
#include "lab/quorum_picture.h"

namespace holdfast::cli {
namespace {

constexpr double kPercentLeast = 0.0001;
constexpr double kPercentMost = 99.9999;

Unexpected<Error> no_value(std::string_view option, std::string_view text) {
  const bool nodes = option == "--nodes";
  return Unexpected{
      Error{Errc::invalid_argument,
            fmt::format("{}: '{}' is not {}",
                        option,
                        printable(text),
                        nodes ? "a number of nodes" : "a percentage of the time"),
            nodes ? fmt::format("use 1 to {}, such as 3,5,7 or 1-9", lab::kQuorumNodesMax)
                  : fmt::format("use {:.4f} to {}, such as 99,99.9", kPercentLeast, kPercentMost)}};
}

std::vector<std::string_view> between_commas(std::string_view text) {
  std::vector<std::string_view> parts;
  for (auto comma = text.find(','); comma != std::string_view::npos; comma = text.find(',')) {
    parts.push_back(text.substr(0, comma));
    text.remove_prefix(comma + 1);
  }
  parts.push_back(text);
  return parts;
}

/// A count, or two with a dash between them.
Result<void> read_counts(std::string_view text, std::set<int>& counts) {
  const auto dash = text.find('-');
  const auto first = parse_decimal<int>(text.substr(0, dash));
  const auto last =
      dash == std::string_view::npos ? first : parse_decimal<int>(text.substr(dash + 1));
  if (!first || !last || *first < 1 || *last > lab::kQuorumNodesMax || *first > *last) {
    return no_value("--nodes", text);
  }
  for (int nodes = *first; nodes <= *last; ++nodes) counts.insert(nodes);
  return {};
}

Result<double> read_percentage(std::string_view text) {
  double percent = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] =
      std::from_chars(text.data(), end, percent, std::chars_format::fixed);
  const bool number = error == std::errc{} && stopped == end;
  if (!number || !(percent >= kPercentLeast && percent <= kPercentMost)) {
    return no_value("--availability", text);
  }
  return percent;
}

}  // namespace

void add_quorum_options(CLI::App& command, QuorumArguments& given) {
  command
      .add_option("--nodes", given.nodes, "How many nodes: 3,5,7 or 1-9, up to 99 (default 1-9)")
      ->type_name("LIST");
  command
      .add_option("--availability",
                  given.availabilities,
                  "How much of the time each is up, in percent (default 99,99.9,99.99)")
      ->type_name("LIST");
  command.add_option("--html", given.picture.html, "Write the picture as a page to this file")
      ->type_name("FILE");
  command.add_option("--svg", given.picture.svg, "Write the picture as SVG to this file")
      ->type_name("FILE");
  command.add_flag("--no-picture", given.picture.no_picture, "Write no picture");
}

Result<lab::QuorumPlan> to_plan(const QuorumArguments& arguments) {
  std::set<int> counts;
  for (const std::string_view part : between_commas(arguments.nodes)) {
    const auto read = read_counts(part, counts);
    if (!read) return Unexpected{read.error()};
  }
  lab::QuorumPlan plan{.nodes = {counts.begin(), counts.end()}, .availabilities = {}};
  for (const std::string_view part : between_commas(arguments.availabilities)) {
    const auto percent = read_percentage(part);
    if (!percent) return Unexpected{percent.error()};
    plan.availabilities.push_back(*percent);
  }
  if (plan.availabilities.size() <= lab::kQuorumCurvesMax) return plan;
  return Unexpected{Error{
      Errc::invalid_argument,
      fmt::format("--availability: {} are too many for one table", plan.availabilities.size()),
      fmt::format("name {} at most", lab::kQuorumCurvesMax)}};
}

}  // namespace holdfast::cli
