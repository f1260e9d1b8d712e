// What a command of the store acts on: a key or a file, fenced or not.

#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "cli/console.h"
#include "cli/store/fence_arguments.h"
#include "holdfast/store_types.h"

namespace holdfast::cli {

/// The options of the store's commands, as typed.
struct TargetArguments {
  /// The first positional argument.
  std::optional<std::string> key;
  std::optional<std::string> file;
  std::optional<std::string> sequence;
  std::optional<std::string> if_version;
  FenceArguments fence;
};

/// What was asked for, understood and within its limits.
struct Target {
  /// The key, or the path of the file.
  std::string key;
  bool is_file{false};
  /// Empty: not fenced. An empty domain stands for the engine in use.
  std::optional<Sequencer> holder{};
  /// Empty: the next one.
  std::optional<std::uint64_t> sequence{};
  std::optional<Version> if_version{};
};

/// Why a command line cannot be acted upon.
struct Complaint {
  /// usage: it is incomplete or contradicts itself. input: a value is wrong.
  enum class Kind { usage, input };
  Kind kind{Kind::input};
  Error error{};
};

/// Gives the exit code.
int report(const Complaint& complaint, Console& console);

/// Whether a command works without a token.
enum class Fencing { required, optional };

/// Adds --file, the options of the fence and, where fencing is optional, --unfenced.
void add_target_arguments(CLI::App& command, TargetArguments& arguments, Fencing fencing);
void add_sequence_argument(CLI::App& command, TargetArguments& arguments, const char* help);
void add_if_version_argument(CLI::App& command, TargetArguments& arguments);

/// Touches nothing.
Result<Target, Complaint> to_target(const TargetArguments& arguments, Fencing fencing);

}  // namespace holdfast::cli
