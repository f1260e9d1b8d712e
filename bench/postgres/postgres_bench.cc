#include "bench/postgres/postgres_bench.h"

#include "bench/postgres/callers.h"
#include "bench/postgres/hand_over.h"
#include "bench/postgres/server.h"
#include "bench/postgres/server_load.h"

namespace holdfast::bench {

Result<Report> run_postgres(Peers peers, const Progress& progress) {
  Report report{.engine = "postgres", .cases = {}};
  const auto server = PostgresServer::start();
  if (!server) return Unexpected{server.error()};
  // The first forks, and is not to have threads before.
  for (const auto add : {add_hand_over, add_callers, add_idle_waiters}) {
    if (auto added = add(report, **server, progress); !added) return Unexpected{added.error()};
  }
  const PeerPrograms programs{.at_hand = {"pgbench"}, .fetched = {}};
  add_peers(report, programs, (*server)->port(), peers, progress);
  return report;
}

}  // namespace holdfast::bench
