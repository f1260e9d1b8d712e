// What is wrong with how a PostgreSQL server is set up. Pure functions of what was read.

#pragma once

#include "core/finding.h"
#include "engines/postgres/doctor/server_facts.h"

namespace holdfast::postgres {

/// Whether it is a server that takes locks at all.
core::Findings server_findings(const ServerFacts& facts);
/// What a crash or a failover loses.
core::Findings durability_findings(const ServerFacts& facts);
/// Poolers, timeouts and silence on the way.
core::Findings connection_findings(const ServerFacts& facts);
/// What this role may do, and who else may.
core::Findings rights_findings(const ServerFacts& facts);

/// All of them.
core::Findings findings_of(const ServerFacts& facts);

}  // namespace holdfast::postgres
