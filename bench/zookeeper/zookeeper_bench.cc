#include "bench/zookeeper/zookeeper_bench.h"

#include "bench/zookeeper/callers.h"
#include "bench/zookeeper/hand_over.h"
#include "bench/zookeeper/server.h"
#include "bench/zookeeper/server_load.h"

namespace holdfast::bench {

Result<Report> run_zookeeper(Peers peers, const Progress& progress) {
  Report report{.engine = "zookeeper", .cases = {}};
  const auto server = ZookeeperServer::start();
  if (!server) return Unexpected{server.error()};
  // The first forks, and is not to have threads before.
  for (const auto add : {add_hand_over, add_callers, add_idle_waiters, add_held}) {
    if (auto added = add(report, **server, progress); !added) return Unexpected{added.error()};
  }
  const PeerPrograms programs{.at_hand = {"kazoo", "curator"}, .fetched = {}};
  add_peers(report, programs, (*server)->port(), peers, progress);
  return report;
}

}  // namespace holdfast::bench
