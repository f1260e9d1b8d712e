// `holdfast lab sim`: simulated worlds by the thousand, every promise checked in each.

#pragma once

#include "cli/command.h"

namespace holdfast::cli {

/// Adds `sim` to `lab`, itself added to `app`.
void add_sim(CLI::App& app, CLI::App& lab, Invocation& invocation);

}  // namespace holdfast::cli
