#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "cli/command.h"
#include "cli/json.h"
#include "cli/stop_on_signal.h"
#include "cli/text.h"
#include "cli/wall_time.h"

namespace holdfast::cli {
namespace {

Tone tone_of(LockChange change) {
  switch (change) {
    case LockChange::granted:
      return Tone::good;
    case LockChange::waiting:
      return Tone::waiting;
    case LockChange::released:
      return Tone::faint;
  }
  return Tone::plain;
}

void print_event(const LockEvent& event, Console& console) {
  if (console.json()) {
    console.print(event_json(event));
  } else {
    const Contender& who = event.contender;
    const std::string token =
        event.change == LockChange::waiting ? "" : fmt::format(", token {}", who.token.value());
    console.print(fmt::format(
        "{}  {}  {}  {}{}",
        wall_time(wall_now_ms()),
        console.paint(fmt::format("{:<8}", to_string(event.change)), tone_of(event.change)),
        console.paint(printable(event.name), Tone::name),
        describe(who),
        token));
  }
}

int watch(const Invocation& invocation, const std::string& prefix, Console& console) {
  const StopOnSignal stop;
  std::stop_source output_gone;
  const std::stop_callback forward{stop.token(), [&] { output_gone.request_stop(); }};
  auto client = Client::connect(invocation.engine);
  if (!client) return console.fail(client.error());
  const auto ended = client->watch(
      prefix,
      [&](const LockEvent& event) {
        print_event(event, console);
        if (std::fflush(stdout) != 0) output_gone.request_stop();
      },
      output_gone.get_token());
  if (stop.signal() != 0) return exit_code_of_signal(stop.signal());
  return ended ? to_int(ExitCode::ok) : console.fail(ended.error());
}

}  // namespace

void add_watch(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand("watch", "Print every change of the locks as it happens");
  auto prefix = std::make_shared<std::string>();
  command->add_option("PREFIX", *prefix, "Only names that begin with this");
  command->footer(
      "\nBegins with what is held and waited for now, and goes on until it is interrupted.\n"
      "With --json, one object per line.\n"
      "\nExamples:\n"
      "  holdfast watch\n"
      "  holdfast watch reports/ --json | jq -c '{event, name, pid}'");
  command->callback([&invocation, prefix] {
    invocation.action = [&invocation, prefix](Console& console) {
      return watch(invocation, *prefix, console);
    };
  });
}

}  // namespace holdfast::cli
