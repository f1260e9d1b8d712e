// Asks an etcd cluster for what a doctor wants to know.

#pragma once

#include <memory>

#include "engines/etcd/doctor/cluster_facts.h"
#include "engines/etcd/driver/etcd_driver.h"
#include "engines/etcd/driver/etcd_url.h"
#include "holdfast/result.h"
#include "runtime/asio_env.h"

namespace holdfast::etcd {

/// Blocks until all is read; writes a key of its own under the prefix for that, and removes it.
/// What the user may not ask stays empty.
///
/// Errors as EtcdPort::commit(): the cluster could not be asked at all. What it denies is a fact.
/// Precondition: not within a task of the Env.
Result<ClusterFacts> examine(runtime::AsioEnv& env,
                             const std::shared_ptr<EtcdDriver>& driver,
                             const EtcdUrl& url);

}  // namespace holdfast::etcd
