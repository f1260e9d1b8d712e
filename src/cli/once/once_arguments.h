// What `once` and the process it runs its program from have in common.

#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/console.h"
#include "holdfast/result.h"
#include "holdfast/store_types.h"

namespace holdfast::cli {

/// As typed.
struct OnceArguments {
  std::string key;
  std::string keep{"24h"};
  std::string ttl{"30s"};
  std::string wait{"forever"};
  std::string on_failure{"store"};
};

/// The name of the hidden command that runs the program while the lock is held.
inline constexpr const char* kOnceRunner = "once-runner";

void add_once_arguments(CLI::App& command, OnceArguments& arguments);

/// invalid_argument names the option, or says what is wrong with the key.
Result<OnceOptions> to_once_options(const OnceArguments& arguments);

/// Prints the output as it is, or with --json key, ran, status and output or output_base64. Gives
/// the exit code: the status.
int print_once(std::string_view key, const OnceReport& report, Console& console);

}  // namespace holdfast::cli
