#include "bench/redis/redis_bench.h"

#include "bench/redis/callers.h"
#include "bench/redis/hand_over.h"
#include "bench/redis/server.h"
#include "bench/redis/server_load.h"
#include "bench/redis/sharing.h"

namespace holdfast::bench {

Result<Report> run_redis(Peers peers, const Progress& progress) {
  Report report{.engine = "redis", .cases = {}};
  const auto server = RedisServer::start();
  if (!server) return Unexpected{server.error()};
  // The first forks, and is not to have threads before.
  for (const auto add : {add_hand_over, add_callers, add_sharing, add_idle_waiters, add_held}) {
    if (auto added = add(report, **server, progress); !added) return Unexpected{added.error()};
  }
  const PeerPrograms programs{.at_hand = {"redis-py"},
                              .fetched = {"node-redlock", "redsync", "redisson"}};
  add_peers(report, programs, (*server)->port(), peers, progress);
  return report;
}

}  // namespace holdfast::bench
