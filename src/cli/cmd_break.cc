#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <memory>

#include "cli/command.h"
#include "cli/json.h"
#include "cli/text.h"

namespace holdfast::cli {
namespace {

struct BreakArguments {
  std::string name;
  std::string why;
};

int break_lock(const Invocation& invocation, const BreakArguments& arguments, Console& console) {
  if (!is_printable(arguments.why)) {
    return console.fail({Errc::invalid_argument,
                         "--why: not UTF-8 without control characters",
                         "correct the text"});
  }
  auto client = Client::connect(invocation.engine);
  if (!client) return console.fail(client.error());
  const auto report = client->break_lock(arguments.name, arguments.why);
  if (!report) return console.fail(report.error());
  if (console.json()) {
    boost::json::array holders;
    for (const Contender& holder : report->holders) holders.push_back(contender_json(holder));
    console.print(boost::json::object{{"name", to_utf8(arguments.name)},
                                      {"holders", std::move(holders)},
                                      {"engine", client->engine()}});
    return to_int(ExitCode::ok);
  }
  for (const Contender& holder : report->holders) {
    console.print(fmt::format("{} taken from {}, token {}",
                              console.paint(printable(arguments.name), Tone::name),
                              describe(holder),
                              holder.token.value()));
  }
  return to_int(ExitCode::ok);
}

}  // namespace

void add_break(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand("break", "Take a lock away from its holder, on the record");
  auto arguments = std::make_shared<BreakArguments>();
  command->add_option("NAME", arguments->name, "The lock")->required();
  command->add_option("--why", arguments->why, "The reason, for the engine's audit record")
      ->type_name("TEXT");
  command->footer(
      "\nAsks no question: the name is the confirmation. The holder learns that its lease was\n"
      "broken, and may go on acting for a moment; only tokens protect the resource from that.\n"
      "\nExamples:\n"
      "  holdfast show deploy\n"
      "  holdfast break deploy --why 'build host is gone, ticket 812'");
  command->callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments](Console& console) {
      return break_lock(invocation, *arguments, console);
    };
  });
}

}  // namespace holdfast::cli
