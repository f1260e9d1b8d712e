#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "cli/duration.h"
#include "cli/lab/progress_bar.h"
#include "cli/stop_on_signal.h"
#include "cli/text.h"
#include "client/redlock_admin.h"

namespace holdfast::cli {
namespace {

struct InitArguments {
  std::string longest_ttl{"10m"};
  bool anew{false};
};

/// A bar for as long as nodes have to wait.
redlock::OnWait on_wait(const std::shared_ptr<ProgressBar>& bar) {
  return [bar](Millis waited, Millis total) {
    const double part = static_cast<double>(waited.count()) / static_cast<double>(total.count());
    const auto left = std::chrono::ceil<std::chrono::seconds>(total - waited);
    bar->show(part, fmt::format("leases of before end, {} s to go", left.count()));
  };
}

boost::json::object set_json(const redlock::NodeSet& set) {
  return {{"set", set.id},
          {"nodes", set.nodes},
          {"epoch", set.epoch},
          {"longest_ttl_ms", set.longest_ttl.count()}};
}

Result<Millis> longest_ttl(const InitArguments& arguments) {
  auto ttl = duration_option("--longest-ttl", arguments.longest_ttl);
  if (!ttl) return ttl;
  if (*ttl >= kTtlMin && *ttl <= kTtlMax) return ttl;
  return Unexpected{Error{
      Errc::invalid_argument, "--longest-ttl: not between 100ms and 24h", "correct the time"}};
}

int init(const Invocation& invocation, const InitArguments& arguments, Console& console) {
  const auto ttl = longest_ttl(arguments);
  if (!ttl) return console.fail(ttl.error());
  const StopOnSignal stop;
  const redlock::Founding founding{
      .longest_ttl = *ttl,
      .anew = arguments.anew ? redlock::Founding::Anew::yes : redlock::Founding::Anew::no};
  auto bar = std::make_shared<ProgressBar>(console.format());
  const auto set = found_redlock(invocation.engine, founding, on_wait(bar), stop.token());
  bar.reset();
  if (!set) return console.fail(set.error());
  if (console.json()) {
    console.print(set_json(*set));
  } else {
    console.print(fmt::format("{} nodes are the set {} now, epoch {}; no lease is longer than {}",
                              set->nodes,
                              console.paint(set->id, Tone::name),
                              set->epoch,
                              arguments.longest_ttl));
  }
  return to_int(ExitCode::ok);
}

int rejoin(const Invocation& invocation, const std::string& node, Console& console) {
  const StopOnSignal stop;
  auto bar = std::make_shared<ProgressBar>(console.format());
  const auto set = rejoin_redlock(invocation.engine, node, on_wait(bar), stop.token());
  bar.reset();
  if (!set) return console.fail(set.error());
  if (console.json()) {
    boost::json::object result = set_json(*set);
    result["node"] = to_utf8(node);
    console.print(result);
  } else {
    console.print(fmt::format("{} is of the set {} again",
                              console.paint(printable(node), Tone::name),
                              console.paint(set->id, Tone::name)));
  }
  return to_int(ExitCode::ok);
}

void add_init(CLI::App& redlock, Invocation& invocation) {
  auto* command = redlock.add_subcommand("init", "Make the nodes of the URL one set");
  auto arguments = std::make_shared<InitArguments>();
  command
      ->add_option("--longest-ttl",
                   arguments->longest_ttl,
                   "No lease may be longer, 100ms to 24h (default 10m)")
      ->type_name("TIME");
  command->add_flag("--anew", arguments->anew, "End the set the nodes belong to");
  command->footer(
      "\nOnce, before the first lock. Every node remembers the set it belongs to, and refuses\n"
      "clients that name other nodes. A node that lost its data belongs to none, and gives no\n"
      "locks until it has joined again, which takes as long as the longest lease may last.\n"
      "With --anew all leases end: it waits for them, and tokens go on above those of before.\n"
      "\nExamples:\n"
      "  holdfast redlock init --engine redlock://a,b,c\n"
      "  holdfast redlock init --engine redlock://a,b,c,d,e --longest-ttl 1h --anew");
  command->callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments](Console& console) {
      return init(invocation, *arguments, console);
    };
  });
}

void add_rejoin(CLI::App& redlock, Invocation& invocation) {
  auto* command = redlock.add_subcommand("rejoin", "Let a node that lost its data join again");
  auto node = std::make_shared<std::string>();
  command->add_option("NODE", *node, "The node as the URL names it, with its port")->required();
  command->footer(
      "\nWaits until every lease that the node may have had a part in is over, then lets its\n"
      "tokens go on above those of the others, of which a majority must be there.\n"
      "\nExamples:\n"
      "  holdfast redlock rejoin b:6379 --engine redlock://a,b,c");
  command->callback([&invocation, node] {
    invocation.action = [&invocation, node](Console& console) {
      return rejoin(invocation, *node, console);
    };
  });
}

}  // namespace

void add_redlock(CLI::App& app, Invocation& invocation) {
  auto* command =
      app.add_subcommand("redlock", "Found a set of Redlock nodes, and let nodes join it again");
  command->require_subcommand(0, 1);
  command->footer(
      "\n'holdfast redlock init --help' and 'holdfast redlock rejoin --help' tell more.\n"
      "\nExamples:\n"
      "  holdfast redlock init --engine redlock://a,b,c\n"
      "  holdfast redlock rejoin b:6379 --engine redlock://a,b,c");
  add_init(*command, invocation);
  add_rejoin(*command, invocation);
}

}  // namespace holdfast::cli
