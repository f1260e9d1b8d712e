#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "cli/store/refusal.h"
#include "cli/store/store_json.h"
#include "cli/text.h"

namespace holdfast::cli {
namespace {

Error not_there(const Target& target) {
  return {Errc::not_found,
          fmt::format("there is no '{}'", target.key),
          target.is_file ? "check the path" : "check the key, and the engine"};
}

int get(const Invocation& invocation, const TargetArguments& arguments, Console& console) {
  const auto target = to_target(arguments, Fencing::optional);
  if (!target) return report(target.error(), console);
  const auto entry = read_target(*target, invocation.engine);
  if (!entry) return fail_target(entry.error(), *target, invocation.engine, console);
  if (console.json()) {
    console.print(entry_json(*target, *entry));
    return to_int(*entry ? ExitCode::ok : ExitCode::not_found);
  }
  if (!*entry) return console.fail(not_there(*target));
  console.print_value((*entry)->value);
  return to_int(ExitCode::ok);
}

}  // namespace

void add_get(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand("get", "Print what is stored under a key");
  auto arguments = std::make_shared<TargetArguments>();
  command->add_option("KEY", arguments->key, "The key: 1 to 512 bytes of UTF-8");
  add_target_arguments(*command, *arguments, Fencing::optional);
  add_sequence_argument(*command, *arguments, "Refuse if a later operation of the token was done");
  command->footer(
      "\nPrints the bytes as they are; exits 66 if there are none. --json also tells the version,\n"
      "for 'put --if-version', and who wrote it. With a token, and inside 'run', the read is\n"
      "fenced: it opens the resource, and exits 78 if a newer holder was here.\n"
      "\nExamples:\n"
      "  holdfast get config\n"
      "  holdfast get config --json | jq .version\n"
      "  holdfast run ledger -- sh -c 'holdfast open ledger && holdfast get ledger'\n"
      "  holdfast get --file ledger.json --lock ledger --token 34 --owner \"$owner\"");
  command->callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments](Console& console) {
      return get(invocation, *arguments, console);
    };
  });
}

}  // namespace holdfast::cli
