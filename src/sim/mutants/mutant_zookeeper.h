// Ports around a ZooKeeper port, with a defect each.

#pragma once

#include <memory>

#include "engines/zookeeper/zookeeper_port.h"

namespace holdfast::sim {

using ZookeeperPortPtr = std::shared_ptr<zookeeper::ZookeeperPort>;

/// Finds no contenders but those of its own session.
ZookeeperPortPtr blind_to_other_nodes(ZookeeperPortPtr port);

/// Who leaves takes the contender that came first along.
ZookeeperPortPtr erasing_the_first(ZookeeperPortPtr port);

/// Contenders outlive their session.
ZookeeperPortPtr with_lasting_nodes(ZookeeperPortPtr port);

/// Heartbeats are reads, which a server answers alone.
ZookeeperPortPtr beating_by_reads(ZookeeperPortPtr port);

/// Heartbeats are syncs, for which a leader asks nobody.
ZookeeperPortPtr beating_by_syncs(ZookeeperPortPtr port);

/// The number in the name of a node is taken for the change that created it.
ZookeeperPortPtr taking_numbers_for_changes(ZookeeperPortPtr port);

}  // namespace holdfast::sim
