// What is wrong with how a ZooKeeper ensemble is set up. Pure functions of what was read.

#pragma once

#include "core/finding.h"
#include "engines/zookeeper/doctor/ensemble_facts.h"

namespace holdfast::zookeeper {

/// Servers and their number.
core::Findings server_findings(const EnsembleFacts& facts);
/// Requests and disks.
core::Findings load_findings(const EnsembleFacts& facts);
/// Which TTLs the ensemble grants.
core::Findings ttl_findings(const EnsembleFacts& facts);
/// What this user may do, and what could not be asked.
core::Findings rights_findings(const EnsembleFacts& facts);
/// Who else may do it.
core::Findings network_findings(const EnsembleFacts& facts);

/// All of them.
core::Findings findings_of(const EnsembleFacts& facts);

}  // namespace holdfast::zookeeper
