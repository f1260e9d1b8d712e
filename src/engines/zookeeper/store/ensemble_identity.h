// What every client of an ensemble and prefix calls it, however they spell the URL.

#pragma once

#include <string>

#include "base/env.h"
#include "engines/zookeeper/store/store_line.h"
#include "engines/zookeeper/zookeeper_nodes.h"

namespace holdfast::zookeeper {

/// Who it is, by a node beside the locks. The first who asks names it, with `fresh`; the name
/// stays, also in a restored backup, and with it the marks that lock out tokens which have gone
/// back. Makes the node of the prefix, too. Repeats what was not answered until `answer_by`. Fails
/// as ZookeeperSession does; not_found: the chroot is not there.
Task<Result<std::string>> identity_of(
    Env& env, StoreLine& line, Nodes nodes, std::string fresh, TimePoint answer_by);

}  // namespace holdfast::zookeeper
