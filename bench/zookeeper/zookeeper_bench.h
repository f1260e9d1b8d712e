// The benchmark of the ZooKeeper engine.

#pragma once

#include "bench/peers.h"
#include "bench/report.h"
#include "holdfast/result.h"

namespace holdfast::bench {

/// Runs every case against a ZooKeeper of its own; about a minute. Forks, so the calling process
/// must have one thread. Errors as Client::connect; unavailable where no ZooKeeper can be started.
Result<Report> run_zookeeper(Peers peers, const Progress& progress);

}  // namespace holdfast::bench
