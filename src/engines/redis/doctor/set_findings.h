// What is wrong with several Redis servers that are one majority, or one cluster. Pure functions of
// what was read.

#pragma once

#include <string>
#include <vector>

#include "core/finding.h"
#include "engines/redis/doctor/node_facts.h"
#include "holdfast/result.h"

namespace holdfast::redis {

/// One node of the set: what was read of it, or why nothing could be.
struct ExaminedNode {
  std::string node;
  Result<NodeFacts> facts;
};

/// What concerns the set as a whole, then what concerns each node.
core::Findings findings_of_set(const std::vector<ExaminedNode>& nodes);

/// The same of the masters of a cluster, each of which has locks of its own.
core::Findings findings_of_cluster(const std::vector<ExaminedNode>& masters);

// One subject each.
core::Findings reach_findings(const std::vector<ExaminedNode>& nodes);
core::Findings identity_findings(const std::vector<ExaminedNode>& nodes);
core::Findings fingerprint_findings(const std::vector<ExaminedNode>& nodes);
core::Findings clocks_findings(const std::vector<ExaminedNode>& nodes);

}  // namespace holdfast::redis
