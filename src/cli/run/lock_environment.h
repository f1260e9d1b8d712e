// What the program of a run learns from its environment about the locks it runs under.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/run/keeper.h"

namespace holdfast::cli {

/// Assignments, NAME=value: HOLDFAST_LOCK, _TOKEN, _OWNER and _SEQUENCER of the first lock, the
/// same with _1, _2, … behind them of each, HOLDFAST_LOCKS (how many) and HOLDFAST_ENGINE.
std::vector<std::string> environment_of(const std::vector<Grant>& grants, std::string_view engine);

}  // namespace holdfast::cli
