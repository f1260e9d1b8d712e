#include <fmt/format.h>

#include <limits>
#include <memory>

#include "cli/command.h"
#include "cli/store/refusal.h"
#include "cli/store/store_json.h"
#include "cli/store/value_input.h"
#include "cli/text.h"

namespace holdfast::cli {
namespace {

struct PutArguments {
  TargetArguments target;
  /// The second positional argument.
  std::optional<std::string> value;
};

constexpr const char* kSequenceHelp = "Number of the operation, so that it may be repeated";

void print_change(const Target& target, const Change& change, const char* done, Console& console) {
  if (console.json()) return console.print(change_json(target, change));
  std::string line = fmt::format("{} {}",
                                 console.paint(printable(target.key), Tone::name),
                                 change.duplicate ? fmt::format("had been {} before", done) : done);
  if (change.version != Version::absent()) {
    line += fmt::format(", version {}", change.version.value());
  }
  if (change.token) {
    line += fmt::format(", token {}, sequence {}", change.token->value(), change.sequence);
  }
  console.print(line);
}

/// With --file there is no key, and what stands first is the value.
Result<PutArguments, Complaint> sort_out(PutArguments arguments) {
  if (!arguments.target.file) return arguments;
  if (arguments.value) {
    return Unexpected{
        Complaint{.kind = Complaint::Kind::usage,
                  .error = {Errc::invalid_argument,
                            fmt::format("unexpected argument '{}'", printable(*arguments.value)),
                            "--file says what to act on: give the value only"}}};
  }
  arguments.value = std::exchange(arguments.target.key, std::nullopt);
  return arguments;
}

Result<std::string, Complaint> value_of(const PutArguments& arguments, const Target& target) {
  if (!arguments.value && !stdin_brings_a_value()) {
    return Unexpected{Complaint{
        .kind = Complaint::Kind::usage,
        .error = {
            Errc::invalid_argument, "no value was given", "give it after the key, or on stdin"}}};
  }
  if (arguments.value && *arguments.value != "-") return *arguments.value;
  auto bytes =
      read_stdin(target.is_file ? std::numeric_limits<std::size_t>::max() : kValueBytesMax);
  if (!bytes) return Unexpected{Complaint{.error = std::move(bytes).error()}};
  return std::move(*bytes);
}

int put(const Invocation& invocation, const PutArguments& typed, Console& console) {
  const auto arguments = sort_out(typed);
  if (!arguments) return report(arguments.error(), console);
  const auto target = to_target(arguments->target, Fencing::optional);
  if (!target) return report(target.error(), console);
  auto value = value_of(*arguments, *target);
  if (!value) return report(value.error(), console);
  const auto change = change_target(*target, invocation.engine, std::move(*value));
  if (!change) return fail_target(change.error(), *target, invocation.engine, console);
  print_change(*target, *change, "written", console);
  return to_int(ExitCode::ok);
}

int erase(const Invocation& invocation, const TargetArguments& arguments, Console& console) {
  const auto target = to_target(arguments, Fencing::optional);
  if (!target) return report(target.error(), console);
  const auto change = change_target(*target, invocation.engine, std::nullopt);
  if (!change) return fail_target(change.error(), *target, invocation.engine, console);
  const bool absent = !change->applied && !change->duplicate;
  print_change(*target, *change, absent ? "was not there" : "erased", console);
  return to_int(ExitCode::ok);
}

}  // namespace

void add_put(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand("put", "Store a value");
  auto arguments = std::make_shared<PutArguments>();
  command->add_option("KEY", arguments->target.key, "The key: 1 to 512 bytes of UTF-8");
  command->add_option("VALUE", arguments->value, "At most 1 MiB; '-', or none in a pipe: stdin");
  add_target_arguments(*command, arguments->target, Fencing::optional);
  add_sequence_argument(*command, arguments->target, kSequenceHelp);
  add_if_version_argument(*command, arguments->target);
  command->footer(
      "\nWith a token, and inside 'run', the write is fenced: it exits 78 and changes nothing if "
      "a\n"
      "newer holder was here. Without one, --if-version makes it a compare-and-swap, which exits\n"
      "79 if somebody else was faster. --file writes a file, of any size, in one step.\n"
      "\nExamples:\n"
      "  holdfast put config \"$next\" --if-version 17\n"
      "  holdfast run ledger -- sh -c 'holdfast open ledger && ./next | holdfast put ledger'\n"
      "  holdfast put ledger 20 --token 34 --owner \"$owner\" --seq 1\n"
      "  ./next | holdfast put --file ledger.json --lock ledger --token 34 --owner \"$owner\"");
  command->callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments](Console& console) {
      return put(invocation, *arguments, console);
    };
  });
}

void add_erase(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand("erase", "Remove a value");
  auto arguments = std::make_shared<TargetArguments>();
  command->add_option("KEY", arguments->key, "The key: 1 to 512 bytes of UTF-8");
  add_target_arguments(*command, *arguments, Fencing::optional);
  add_sequence_argument(*command, *arguments, kSequenceHelp);
  add_if_version_argument(*command, *arguments);
  command->footer(
      "\nAs 'put'. A fenced resource remembers who opened it, so that old holders stay locked "
      "out.\n"
      "\nExamples:\n"
      "  holdfast erase config --if-version 17\n"
      "  holdfast erase ledger --token 34 --owner \"$owner\" --seq 2");
  command->callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments](Console& console) {
      return erase(invocation, *arguments, console);
    };
  });
}

}  // namespace holdfast::cli
