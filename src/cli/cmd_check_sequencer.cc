#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "cli/text.h"

namespace holdfast::cli {
namespace {

int check(const Invocation& invocation, const std::string& sequencer, Console& console) {
  auto client = Client::connect(invocation.engine);
  if (!client) return console.fail(client.error());
  const auto status = client->check_sequencer(sequencer);
  if (!status) return console.fail(status.error());
  if (console.json()) {
    console.print(boost::json::object{{"stands", status->stands},
                                      {"reason", to_utf8(status->reason)},
                                      {"engine", client->engine()}});
  } else if (status->stands) {
    console.print(console.paint("stands", Tone::good));
  } else {
    console.print(fmt::format(
        "{}: {}", console.paint("does not stand", Tone::bad), printable(status->reason)));
  }
  return to_int(status->stands ? ExitCode::ok : ExitCode::lost);
}

}  // namespace

void add_check_sequencer(CLI::App& app, Invocation& invocation) {
  auto* command =
      app.add_subcommand("check-sequencer", "Tell whether the lease behind a sequencer stands");
  auto sequencer = std::make_shared<std::string>();
  command->add_option("STRING", *sequencer, "What the holder handed over")->required();
  command->footer(
      "\nExits 0 if it stands and 76 if it does not. 'run' gives its program a sequencer in\n"
      "HOLDFAST_SEQUENCER, and 'acquire' prints one.\n"
      "\nExamples:\n"
      "  holdfast check-sequencer \"$sequencer\" || echo 'refused: the holder lost its lease'");
  command->callback([&invocation, sequencer] {
    invocation.action = [&invocation, sequencer](Console& console) {
      return check(invocation, *sequencer, console);
    };
  });
}

}  // namespace holdfast::cli
