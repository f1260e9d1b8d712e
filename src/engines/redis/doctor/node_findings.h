// What is wrong with how a Redis server is set up for locks. Pure functions of what was read.

#pragma once

#include "core/finding.h"
#include "engines/redis/doctor/node_facts.h"

namespace holdfast::redis {

/// What the locks of a server rest on.
enum class Trust : std::uint8_t {
  /// This server alone.
  itself,
  /// A majority of several: what one of them forgets is guarded by the others, and by hand.
  majority,
};

/// Everything below, in order.
core::Findings findings_of(const NodeFacts& facts, Trust trust);

// One subject each.
core::Findings persistence_findings(const NodeFacts& facts, Trust trust);
core::Findings memory_findings(const NodeFacts& facts);
core::Findings replication_findings(const NodeFacts& facts, Trust trust);
core::Findings rights_findings(const NodeFacts& facts);
core::Findings network_findings(const NodeFacts& facts);
core::Findings clock_findings(const NodeFacts& facts);
core::Findings version_findings(const NodeFacts& facts);

}  // namespace holdfast::redis
