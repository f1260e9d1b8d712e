#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <optional>

#include "cli/command.h"
#include "cli/json.h"
#include "cli/stop_on_signal.h"
#include "cli/text.h"
#include "cli/wall_time.h"
#include "core/backend.h"
#include "holdfast/election.h"
#include "recipes/wish.h"

namespace holdfast::cli {
namespace {

struct LeaderArguments {
  std::string name;
  bool watch{false};
  std::string hand_over_to;
  std::string wait{"30s"};
};

using MaybeLeader = std::optional<Leader>;

std::string one_line(const Leader& leader, const Console& console) {
  std::string text =
      console.paint(leader.id.empty() ? "no candidate" : printable(leader.id), Tone::good);
  if (!leader.value.empty()) text += "  " + printable(leader.value);
  return text + fmt::format("  epoch {}, {} pid {}, since {}",
                            leader.epoch.value(),
                            printable(leader.host),
                            leader.pid,
                            wall_time(leader.since_ms));
}

int show_leader(const Client& client, const std::string& name, Console& console) {
  const auto found = find_leader(client, name);
  if (!found) return console.fail(found.error());
  if (console.json()) {
    console.print(leader_json(name, *found));
    return to_int(*found ? ExitCode::ok : ExitCode::not_found);
  }
  if (!*found) {
    return console.fail({Errc::not_found,
                         fmt::format("nobody leads '{}'", printable(name)),
                         "see who waits: holdfast show NAME"});
  }
  console.print(one_line(**found, console));
  return to_int(ExitCode::ok);
}

void print_change(const std::string& name, const MaybeLeader& leader, Console& console) {
  if (console.json()) return console.print(leader_json(name, leader));
  const std::string what =
      leader ? one_line(*leader, console) : console.paint("nobody leads", Tone::waiting);
  console.print(fmt::format("{}  {}", wall_time(wall_now_ms()), what));
}

int watch_leader(const Client& client,
                 const std::string& name,
                 const StopOnSignal& stop,
                 Console& console) {
  auto watch = LeaderWatch::start(client, name);
  if (!watch) return console.fail(watch.error());
  if (const auto unheard = client.backend()->why_unheard()) {
    console.note(fmt::format("holdfast: changes are looked for, not told: {}; to be told, {}",
                             unheard->message,
                             unheard->remedy()));
  }
  bool away = false;
  for (;;) {
    const auto leader = watch->next(stop.token());
    if (stop.signal() != 0) return exit_code_of_signal(stop.signal());
    if (!leader && leader.error().code != Errc::unavailable) return console.fail(leader.error());
    if (!leader && !away) console.note("holdfast: " + leader.error().message);
    away = !leader;
    if (away) continue;
    print_change(name, *leader, console);
    if (std::fflush(stdout) != 0) return to_int(ExitCode::ok);
  }
}

int hand_over(Client& client,
              const LeaderArguments& arguments,
              const StopOnSignal& stop,
              Console& console) {
  const auto wait = duration_option("--wait", arguments.wait);
  if (!wait) return console.fail(wait.error());
  const auto led =
      recipes::wish_for(client, arguments.name, arguments.hand_over_to, *wait, stop.token());
  if (stop.signal() != 0) return exit_code_of_signal(stop.signal());
  if (!led) return console.fail(led.error());
  if (console.json()) {
    console.print(leader_json(arguments.name, *led));
  } else {
    console.print(one_line(*led, console));
  }
  return to_int(ExitCode::ok);
}

int leader(const Invocation& invocation, const LeaderArguments& arguments, Console& console) {
  const bool hands_over = !arguments.hand_over_to.empty();
  std::optional<StopOnSignal> stop;
  if (arguments.watch || hands_over) stop.emplace();
  auto client = Client::connect(invocation.engine);
  if (!client) return console.fail(client.error());
  if (hands_over) return hand_over(*client, arguments, *stop, console);
  return arguments.watch ? watch_leader(*client, arguments.name, *stop, console)
                         : show_leader(*client, arguments.name, console);
}

}  // namespace

void add_leader(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand("leader", "Tell who leads an election");
  auto arguments = std::make_shared<LeaderArguments>();
  command->add_option("NAME", arguments->name, "The election")->required();
  auto* watch = command->add_flag(
      "--watch", arguments->watch, "Print every change of the leader as it happens");
  auto* hand_over = command
                        ->add_option("--hand-over-to",
                                     arguments->hand_over_to,
                                     "Have the leader give way to this candidate, which waits")
                        ->type_name("ID")
                        ->excludes(watch);
  command->add_option("--wait", arguments->wait, "How long that may take (default 30s)")
      ->type_name("TIME")
      ->needs(hand_over);
  command->footer(
      "\nExit codes: 66 nobody leads. With --watch, it goes on until it is interrupted; with\n"
      "--json, one object per line.\n"
      "\nWith --hand-over-to, a leader that `elect` runs has its program end, within its grace, "
      "and\n"
      "campaigns again; the candidate leads wherever it stands in the queue, and is printed. Exit\n"
      "codes: 66 nobody leads, or no such candidate waits; 75 it does not lead in time. A leader\n"
      "that is another program is not asked: let it hand over itself.\n"
      "\nExamples:\n"
      "  holdfast leader billing\n"
      "  holdfast leader billing --json | jq -r .leader.value\n"
      "  holdfast leader billing --watch\n"
      "  holdfast leader billing --hand-over-to worker-3");
  command->callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments](Console& console) {
      return leader(invocation, *arguments, console);
    };
  });
}

}  // namespace holdfast::cli
