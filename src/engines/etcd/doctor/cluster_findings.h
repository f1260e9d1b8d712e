// What is wrong with how an etcd cluster is set up for locks. Pure functions of what was read.

#pragma once

#include "core/finding.h"
#include "engines/etcd/doctor/cluster_facts.h"

namespace holdfast::etcd {

/// Everything below, in order.
core::Findings findings_of(const ClusterFacts& facts);

// One subject each.
core::Findings member_findings(const ClusterFacts& facts);
core::Findings speed_findings(const ClusterFacts& facts);
core::Findings disk_findings(const ClusterFacts& facts);
core::Findings space_findings(const ClusterFacts& facts);
core::Findings lease_findings(const ClusterFacts& facts);
core::Findings rights_findings(const ClusterFacts& facts);
core::Findings network_findings(const ClusterFacts& facts);
core::Findings version_findings(const ClusterFacts& facts);

}  // namespace holdfast::etcd
