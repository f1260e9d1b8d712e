// Draws how often no majority is up: a curve for each availability over the number of nodes.

#pragma once

#include "lab/quorum.h"
#include "lab/sheet.h"

namespace holdfast::lab {

/// So many curves have colours of their own.
inline constexpr std::size_t kQuorumCurvesMax = 6;

/// Precondition: at least one count, and 1 to kQuorumCurvesMax availabilities.
Picture draw_quorum(const QuorumPlan& plan);

}  // namespace holdfast::lab
