// The options of `holdfast lab quorum`, as typed and as understood.

#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/lab/demo.h"
#include "holdfast/result.h"
#include "lab/quorum.h"

namespace holdfast::cli {

struct QuorumArguments {
  std::string nodes{"1-9"};
  std::string availabilities{"99,99.9,99.99"};
  DemoOptions picture{.name = "quorum", .svg = {}, .html = {}};
};

void add_quorum_options(CLI::App& command, QuorumArguments& arguments);

/// Counts without repetitions, rising. invalid_argument names the option and what it may be.
Result<lab::QuorumPlan> to_plan(const QuorumArguments& arguments);

}  // namespace holdfast::cli
