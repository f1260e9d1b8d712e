// How long it takes from one process's release to another's having the lock.

#pragma once

#include "bench/etcd/server.h"
#include "bench/report.h"

namespace holdfast::bench {

/// Two processes; the receiver waits in the queue each time, and the giver has held the lock for
/// a while. Against what it cannot do without, by plain clients in the same two processes in turns:
/// a key is erased, the other process hears of it and makes one transaction. Forks: the process
/// must have one thread.
Result<void> add_hand_over(Report& report, const EtcdServer& server, const Progress& progress);

}  // namespace holdfast::bench
