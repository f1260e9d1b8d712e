// Asks a ZooKeeper ensemble for what a doctor wants to know.

#pragma once

#include "engines/zookeeper/doctor/ensemble_facts.h"
#include "engines/zookeeper/driver/zookeeper_url.h"
#include "holdfast/result.h"
#include "runtime/asio_env.h"

namespace holdfast::zookeeper {

/// Blocks until all is read; creates a node of its own below the prefix for that, and removes it.
///
/// Errors as ZookeeperSession: the ensemble could not be asked at all. What it denies is a fact.
/// Precondition: not within a task of the Env.
Result<EnsembleFacts> examine(runtime::AsioEnv& env, const ZookeeperUrl& url);

}  // namespace holdfast::zookeeper
