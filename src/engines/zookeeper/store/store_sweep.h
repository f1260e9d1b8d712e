// Takes away what the store keeps no longer.
//
// ZooKeeper forgets nothing by itself: every node that is to go is listed below one node, under the
// time at which it may. Whoever uses the store looks there once a minute.

#pragma once

#include <memory>

#include "engines/zookeeper/store/server_clock.h"
#include "engines/zookeeper/store/store_line.h"

namespace holdfast::zookeeper {

/// `expiring`: StoreNodes::expiring(). `now`: the servers' time, or earlier. Ends by `answer_by` or
/// soon after, with what could be done by then.
Task<void> sweep_store(std::shared_ptr<StoreLine> line,
                       std::string expiring,
                       Millis now,
                       TimePoint answer_by);

}  // namespace holdfast::zookeeper
