#include "bench/etcd/etcd_bench.h"

#include "bench/etcd/callers.h"
#include "bench/etcd/hand_over.h"
#include "bench/etcd/server.h"
#include "bench/etcd/server_load.h"

namespace holdfast::bench {

Result<Report> run_etcd(Peers peers, const Progress& progress) {
  Report report{.engine = "etcd", .cases = {}};
  const auto server = EtcdServer::start();
  if (!server) return Unexpected{server.error()};
  // The first forks, and is not to have threads before.
  for (const auto add : {add_hand_over, add_callers, add_idle_waiters, add_held}) {
    if (auto added = add(report, **server, progress); !added) return Unexpected{added.error()};
  }
  const PeerPrograms programs{.at_hand = {"etcdctl"}, .fetched = {"etcd-go"}};
  add_peers(report, programs, (*server)->port(), peers, progress);
  return report;
}

}  // namespace holdfast::bench
