// The command line before it is parsed: what belongs to Holdfast and what to the program it runs.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::cli {

struct CommandLine {
  /// For Holdfast, in the order typed.
  std::vector<std::string> arguments;
  /// What followed the first `--` of a command that runs a program.
  std::vector<std::string> program;
};

/// Splits at the first `--` when the command runs a program, and leaves other lines as they are.
/// A value such as -5s is tied to its option (`--ttl=-5s`), so that it is not taken for an option.
CommandLine split_command_line(std::vector<std::string> arguments);

/// Whether the command takes a program after `--`.
bool runs_a_program(std::string_view command);

/// Whether `--json` is among the arguments: needed before the line is known to be well formed.
bool asks_for_json(const std::vector<std::string>& arguments);

}  // namespace holdfast::cli
