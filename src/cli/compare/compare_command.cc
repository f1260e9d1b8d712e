#include "cli/compare/compare_command.h"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <csignal>
#include <memory>

#include "bench/compare/compare.h"
#include "bench/compare/own_engine.h"
#include "cli/compare/compare_report.h"
#include "cli/lab/demo.h"
#include "cli/lab/progress_bar.h"
#include "cli/signals.h"
#include "cli/text.h"

namespace holdfast::cli {
namespace {

struct CompareArguments {
  std::vector<std::string> engines;
  DemoOptions picture{.name = "compare", .svg = {}, .html = {}};
};

std::string own_names() {
  std::string names;
  for (const std::string_view name : bench::kOwnEngines) names += std::string{name} + ", ";
  return names;
}

Result<void> check(const std::vector<std::string>& engines) {
  for (const std::string& engine : engines) {
    if (bench::is_own(engine) || engine.find(':') != std::string::npos) continue;
    return Unexpected{Error{Errc::invalid_argument,
                            fmt::format("there is no engine '{}' to compare", printable(engine)),
                            "use " + own_names() + "or the URL of one that runs"}};
  }
  return {};
}

/// Nothing is drawn unless it was asked for.
Result<std::vector<std::string>> draw_as_asked(const DemoOptions& picture,
                                               const bench::Comparison& comparison) {
  if (picture.svg.empty() && picture.html.empty()) return std::vector<std::string>{};
  return write_pictures(picture, draw(comparison));
}

void show(Console& console,
          const bench::Comparison& comparison,
          const std::vector<std::string>& pictures) {
  if (console.json()) {
    boost::json::object result = to_json(comparison);
    boost::json::array paths;
    for (const std::string& path : pictures) paths.emplace_back(path);
    result["pictures"] = std::move(paths);
    console.print(result);
    return;
  }
  print(console, comparison);
  for (const std::string& path : pictures) {
    console.print("\nThe chart: " + console.paint(path, Tone::name));
  }
}

int run_compare(Console& console, const CompareArguments& arguments) {
  if (const auto checked = check(arguments.engines); !checked) return console.fail(checked.error());
  const UniqueFd signals = open_signals({SIGINT, SIGTERM, SIGHUP, SIGQUIT});
  bench::CompareOptions options{.engines = arguments.engines, .interrupt = signals.get()};
  const bool named = !options.engines.empty();
  if (!named) options.engines.assign(bench::kOwnEngines.begin(), bench::kOwnEngines.end());
  auto bar = std::make_unique<ProgressBar>(console.format());
  options.progress = [&](const std::string& words, double part) { bar->show(part, words); };
  const auto comparison = bench::compare(options);
  bar.reset();
  if (!comparison) return give_up(console, comparison.error(), signals.get());
  const auto pictures = draw_as_asked(arguments.picture, *comparison);
  // What took minutes to measure is shown, also when it cannot be drawn.
  show(console, *comparison, pictures ? *pictures : std::vector<std::string>{});
  if (!pictures) return console.fail_on_stderr(pictures.error());
  // Of engines that nobody asked for by name, it is enough to say that they are not here.
  const bool all_asked = comparison->missing.empty() || !named;
  const bool any = !comparison->measured.empty();
  return to_int(all_asked && any ? ExitCode::ok : ExitCode::unavailable);
}

}  // namespace

void add_compare(CLI::App& bench, Invocation& invocation) {
  const auto arguments = std::make_shared<CompareArguments>();
  auto* command = bench.add_subcommand("compare", "Measure engines side by side");
  command->add_option("ENGINE",
                      arguments->engines,
                      "Names, whose servers are started, and URLs of engines that run "
                      "(default: all that are installed)");
  command->add_option("--svg", arguments->picture.svg, "Write the chart as SVG to this file")
      ->type_name("FILE");
  command->add_option("--html", arguments->picture.html, "Write the chart as a page to this file")
      ->type_name("FILE");
  command->footer(
      "\nTimes acquire and release by one caller, and the hand-over between two processes, the "
      "same "
      "way on\nevery engine: at most 15 s each. Names: " +
      own_names().substr(0, own_names().size() - 2) +
      ".\nExits with 69 when an engine that was named could not be measured.\n"
      "\nExamples:\n"
      "  holdfast bench compare\n"
      "  holdfast bench compare --svg engines.svg\n"
      "  holdfast bench compare local redis etcd://10.0.0.5:2379 --json");
  command->callback([&invocation, arguments] {
    invocation.action = [arguments](Console& console) { return run_compare(console, *arguments); };
  });
}

}  // namespace holdfast::cli
