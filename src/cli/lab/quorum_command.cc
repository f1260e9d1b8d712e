#include "cli/lab/quorum_command.h"

#include <boost/json/array.hpp>
#include <memory>

#include "cli/lab/demo.h"
#include "cli/lab/quorum_arguments.h"
#include "cli/lab/quorum_report.h"
#include "lab/quorum_picture.h"

namespace holdfast::cli {
namespace {

int show(Console& console, const QuorumArguments& arguments) {
  const auto plan = to_plan(arguments);
  if (!plan) return console.fail(plan.error());
  const auto pictures = write_pictures(arguments.picture, lab::draw_quorum(*plan));
  if (!pictures) return console.fail(pictures.error());
  if (console.json()) {
    boost::json::object result = to_json(*plan);
    boost::json::array paths;
    for (const std::string& path : *pictures) paths.emplace_back(path);
    result["pictures"] = std::move(paths);
    console.print(result);
    return to_int(ExitCode::ok);
  }
  print(console, *plan);
  for (const std::string& path : *pictures) {
    console.print("\nThe picture: " + console.paint(path, Tone::name));
  }
  return to_int(ExitCode::ok);
}

}  // namespace

void add_quorum(CLI::App& lab, Invocation& invocation) {
  const auto arguments = std::make_shared<QuorumArguments>();
  auto* command = lab.add_subcommand("quorum", "How often no majority of nodes is up");
  add_quorum_options(*command, *arguments);
  command->footer(
      "\nComputed, not measured: the chance that fewer than N/2 + 1 (rounded down) of N nodes are "
      "up, "
      "if each\nis up with the given availability and they fail independently of each other.\n"
      "\nExamples:\n"
      "  holdfast lab quorum\n"
      "  holdfast lab quorum --nodes 3,5,7 --availability 95,99 --svg quorum.svg\n"
      "  holdfast lab quorum --no-picture --json | jq '.majorities[] | {nodes, failure}'");
  command->callback([&invocation, arguments] {
    invocation.action = [arguments](Console& console) { return show(console, *arguments); };
  });
}

}  // namespace holdfast::cli
