// Sets of faults as people type and read them: "pause,loss", "all", "none".

#pragma once

#include <string>
#include <string_view>

#include "holdfast/result.h"
#include "sim/faults/fault_class.h"

namespace holdfast::sim {

/// What such a fault is, in a few words.
std::string_view summary_of(FaultClass kind);

/// In the order of FaultClass.
std::string to_list(FaultSet faults);

/// invalid_argument names the word that is none, and the remedy lists those that are.
Result<FaultSet> parse_faults(std::string_view list);

}  // namespace holdfast::sim
