// Who acts on a resource, as typed or as `holdfast run` left it in the environment.

#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "holdfast/result.h"
#include "holdfast/sequencer.h"

namespace holdfast::cli {

/// The options of the fenced commands, as typed.
struct FenceArguments {
  std::optional<std::string> token;
  std::optional<std::string> owner;
  std::optional<std::string> lock;
  bool shared{false};
  /// Leave the environment alone.
  bool unfenced{false};
};

void add_fence_arguments(CLI::App& command, FenceArguments& arguments);

/// What stands in for a lock's name when none is given.
enum class LockDefault {
  /// The resource's own name.
  resource,
  /// Nothing: a file has no name that a lock would share.
  none,
};

/// --token wins; then the sequencer in HOLDFAST_SEQUENCER; otherwise nothing: not fenced. An empty
/// domain stands for the engine in use. Touches nothing but the environment.
/// invalid_argument names the option or the variable.
Result<std::optional<Sequencer>> who_acts(const FenceArguments& arguments,
                                          std::string_view resource,
                                          LockDefault lock_default);

/// A whole number from 0 to 2^53 - 1. invalid_argument quotes the text.
Result<std::uint64_t> number_option(std::string_view option, std::string_view text);

}  // namespace holdfast::cli
