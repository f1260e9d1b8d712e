// `holdfast bench compare`: every engine that is up, side by side.

#pragma once

#include "cli/command.h"

namespace holdfast::cli {

/// Adds `compare` to `bench`.
void add_compare(CLI::App& bench, Invocation& invocation);

}  // namespace holdfast::cli
