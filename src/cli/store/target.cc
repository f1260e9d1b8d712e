#include "cli/store/target.h"

#include <fmt/format.h>

#include <utility>

#include "cli/text.h"
#include "core/limits.h"

namespace holdfast::cli {
namespace {

Unexpected<Complaint> misused(std::string message, std::string remedy) {
  return Unexpected{
      Complaint{.kind = Complaint::Kind::usage,
                .error = {Errc::invalid_argument, std::move(message), std::move(remedy)}}};
}

Unexpected<Complaint> wrong(Error error) {
  return Unexpected{Complaint{.kind = Complaint::Kind::input, .error = std::move(error)}};
}

Result<std::string, Complaint> key_of(const TargetArguments& arguments) {
  if (arguments.file && arguments.key) {
    return misused(fmt::format("unexpected argument '{}'", printable(*arguments.key)),
                   "--file says what to act on: leave the key out");
  }
  if (arguments.file) return *arguments.file;
  if (!arguments.key) return misused("no key was given", "name the key, or a file with --file");
  if (auto good = core::check_key(*arguments.key); !good) return wrong(std::move(good).error());
  return *arguments.key;
}

Result<std::optional<Sequencer>, Complaint> holder_of(const TargetArguments& arguments,
                                                      std::string_view key) {
  FenceArguments fence = arguments.fence;
  fence.unfenced = fence.unfenced || arguments.if_version;
  auto holder = who_acts(fence, key, arguments.file ? LockDefault::none : LockDefault::resource);
  if (!holder) return wrong(std::move(holder).error());
  return std::move(*holder);
}

/// What does not go together.
Result<void, Complaint> check_combination(const TargetArguments& arguments,
                                          const Target& target,
                                          Fencing fencing) {
  if (target.holder) return {};
  if (fencing == Fencing::required || target.is_file) {
    return misused("no token was given",
                   "give --token T and --owner ID of a lease, or call it inside 'holdfast run'");
  }
  if (arguments.sequence) {
    return misused("--seq numbers the operations of a token, and there is none",
                   "give --token T, or leave --seq out");
  }
  return {};
}

}  // namespace

int report(const Complaint& complaint, Console& console) {
  return complaint.kind == Complaint::Kind::usage
             ? console.fail_usage(complaint.error.message, complaint.error.remedy())
             : console.fail(complaint.error);
}

void add_target_arguments(CLI::App& command, TargetArguments& arguments, Fencing fencing) {
  command.add_option("--file", arguments.file, "Act on this file instead, which is fenced as well")
      ->type_name("PATH");
  add_fence_arguments(command, arguments.fence);
  if (fencing == Fencing::required) return;
  command
      .add_flag("--unfenced", arguments.fence.unfenced, "Inside 'run': leave its token out of it")
      ->excludes("--token");
}

void add_sequence_argument(CLI::App& command, TargetArguments& arguments, const char* help) {
  command.add_option("--seq", arguments.sequence, help)->type_name("S");
}

void add_if_version_argument(CLI::App& command, TargetArguments& arguments) {
  command
      .add_option("--if-version",
                  arguments.if_version,
                  "Only if the key is at this version; 0: only if there is none")
      ->type_name("V")
      ->excludes("--token")
      ->excludes("--file");
}

Result<Target, Complaint> to_target(const TargetArguments& arguments, Fencing fencing) {
  auto key = key_of(arguments);
  if (!key) return Unexpected{std::move(key).error()};
  auto holder = holder_of(arguments, *key);
  if (!holder) return Unexpected{std::move(holder).error()};
  Target target{
      .key = std::move(*key), .is_file = arguments.file.has_value(), .holder = std::move(*holder)};
  if (auto good = check_combination(arguments, target, fencing); !good) {
    return Unexpected{std::move(good).error()};
  }
  if (arguments.sequence) {
    const auto sequence = number_option("--seq", *arguments.sequence);
    if (!sequence) return wrong(sequence.error());
    target.sequence = *sequence;
  }
  if (arguments.if_version) {
    const auto version = number_option("--if-version", *arguments.if_version);
    if (!version) return wrong(version.error());
    target.if_version = Version{*version};
  }
  return target;
}

}  // namespace holdfast::cli
