// How long it takes from one process's release to another's having the lock.

#pragma once

#include "bench/redis/server.h"
#include "bench/report.h"

namespace holdfast::bench {

/// Two processes; the receiver waits in the queue each time, and the giver has held the lock for
/// a while. Against one bare round trip, measured in turns. Forks: the process must have one
/// thread.
Result<void> add_hand_over(Report& report, const RedisServer& server, const Progress& progress);

}  // namespace holdfast::bench
