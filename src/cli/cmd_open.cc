#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "cli/store/refusal.h"
#include "cli/store/store_json.h"
#include "cli/text.h"

namespace holdfast::cli {
namespace {

struct OpenArguments {
  TargetArguments target;
  bool strict{false};
};

int open(const Invocation& invocation, const OpenArguments& arguments, Console& console) {
  const auto target = to_target(arguments.target, Fencing::required);
  if (!target) return report(target.error(), console);
  if (target->sequence.value_or(0) != 0) {
    return console.fail({Errc::invalid_argument,
                         fmt::format("--seq: an open is number 0, not {}", *target->sequence),
                         "leave it out"});
  }
  OpenOptions options;
  if (arguments.strict) options.policy = WritePolicy::strict;
  const auto sequence = open_target(*target, invocation.engine, options);
  if (!sequence) return fail_target(sequence.error(), *target, invocation.engine, console);
  const std::uint64_t token = target->holder->token.value();
  if (console.json()) {
    console.print(boost::json::object{
        {"key", to_utf8(target->key)}, {"opened", true}, {"token", token}, {"seq", *sequence}});
  } else {
    console.print(fmt::format("{} is open for token {}; last sequence {}",
                              console.paint(printable(target->key), Tone::name),
                              token,
                              *sequence));
  }
  return to_int(ExitCode::ok);
}

int check(const Invocation& invocation, const TargetArguments& arguments, Console& console) {
  const auto target = to_target(arguments, Fencing::required);
  if (!target) return report(target.error(), console);
  const auto checked = open_target(*target, invocation.engine, {});
  if (!checked) return fail_target(checked.error(), *target, invocation.engine, console);
  const std::uint64_t token = target->holder->token.value();
  if (console.json()) {
    console.print(
        boost::json::object{{"key", to_utf8(target->key)}, {"good", true}, {"token", token}});
  } else {
    console.print(fmt::format("token {} is {} for {}",
                              token,
                              console.paint("good", Tone::good),
                              console.paint(printable(target->key), Tone::name)));
  }
  return to_int(ExitCode::ok);
}

}  // namespace

void add_open(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand("open", "Lock older holders out of a resource");
  auto arguments = std::make_shared<OpenArguments>();
  command->add_option("RESOURCE", arguments->target.key, "The resource: 1 to 512 bytes of UTF-8");
  add_target_arguments(*command, arguments->target, Fencing::required);
  add_sequence_argument(*command, arguments->target, "0, which every open is");
  command->add_flag("--strict", arguments->strict, "Allow one write per token; the first decides");
  command->footer(
      "\nDo it before the first read: from here on, holders with an older token are refused.\n"
      "Inside 'run', token, owner and lock come from the environment. Exits 78 if a newer holder\n"
      "was here first. Repeating it changes nothing.\n"
      "\nExamples:\n"
      "  holdfast run ledger -- sh -c 'holdfast open ledger && ./work'\n"
      "  holdfast open ledger --token 34 --owner \"$owner\"\n"
      "  holdfast open --file ledger.json --lock ledger --token 34 --owner \"$owner\"");
  command->callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments](Console& console) {
      return open(invocation, *arguments, console);
    };
  });
}

void add_check(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand("check",
                                     "Tell a resource that lives elsewhere whether a token"
                                     " is good");
  auto arguments = std::make_shared<TargetArguments>();
  command->add_option("RESOURCE", arguments->key, "The resource: 1 to 512 bytes of UTF-8");
  add_target_arguments(*command, *arguments, Fencing::required);
  command->footer(
      "\nRegisters the token as 'open' does. To be called by the resource, inside its own write\n"
      "lock: checking first and writing later protects nothing. Exits 78 if the token is stale.\n"
      "A resource that was handed a sequencer puts it into HOLDFAST_SEQUENCER.\n"
      "\nExamples:\n"
      "  flock ledger.lock sh -c 'holdfast check ledger && mv ledger.new ledger'\n"
      "  holdfast check ledger --token 34 --owner \"$owner\"");
  command->callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments](Console& console) {
      return check(invocation, *arguments, console);
    };
  });
}

}  // namespace holdfast::cli
