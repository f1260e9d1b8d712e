// `holdfast lab quorum`: how often no majority of nodes is up.

#pragma once

#include "cli/command.h"

namespace holdfast::cli {

/// Adds `quorum` to `lab`.
void add_quorum(CLI::App& lab, Invocation& invocation);

}  // namespace holdfast::cli
