#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "cli/duration.h"
#include "cli/json.h"
#include "cli/text.h"

namespace holdfast::cli {
namespace {

void print_lock(const LockInfo& lock, const std::string& engine, Console& console) {
  const bool unused = lock.holders.empty() && lock.waiters.empty();
  std::string state = unused ? "nobody holds or waits for it" : std::string{to_string(lock.mode)};
  if (lock.mode == Mode::permit && !unused) {
    state = fmt::format("permit, {} of {} taken", lock.holders.size(), lock.permits);
  }
  console.print(fmt::format("{}  {}",
                            console.paint(printable(lock.name), Tone::name),
                            console.paint(state, Tone::faint)));
  console.print(fmt::format("engine   {}", engine));
  if (lock.delay > Millis{0}) {
    console.print(fmt::format("delayed  a holder vanished; not granted to anybody for {}",
                              format_duration(lock.delay)));
  }
  for (const Contender& holder : lock.holders) {
    console.print(fmt::format("{}     {}, token {}, {} left, owner {}{}",
                              console.paint("held", Tone::good),
                              describe(holder),
                              holder.token.value(),
                              format_duration(holder.ttl),
                              holder.owner_fp,
                              holder.foreign ? ", not by Holdfast" : ""));
  }
  for (const Contender& waiter : lock.waiters) {
    console.print(fmt::format("{}  {}, {}",
                              console.paint("waiting", Tone::waiting),
                              describe(waiter),
                              to_string(waiter.mode)));
  }
}

int show(const Invocation& invocation, const std::string& name, Console& console) {
  auto client = Client::connect(invocation.engine);
  if (!client) return console.fail(client.error());
  const auto lock = client->inspect(name);
  if (!lock) return console.fail(lock.error());
  if (console.json()) {
    console.print(lock_json(*lock, client->engine()));
  } else {
    print_lock(*lock, client->engine(), console);
  }
  return to_int(ExitCode::ok);
}

}  // namespace

void add_show(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand("show", "Tell who holds a lock and who waits for it");
  auto name = std::make_shared<std::string>();
  command->add_option("NAME", *name, "The lock")->required();
  command->footer(
      "\nAlso says which engine, and for local: which directory, the answer comes from.\n"
      "\nExamples:\n"
      "  holdfast show deploy\n"
      "  holdfast show deploy --json | jq '.holders[0].pid'");
  command->callback([&invocation, name] {
    invocation.action = [&invocation, name](Console& console) {
      return show(invocation, *name, console);
    };
  });
}

}  // namespace holdfast::cli
