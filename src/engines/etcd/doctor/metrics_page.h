// Fetches what an etcd server tells of itself.

#pragma once

#include <string>

#include "engines/etcd/driver/etcd_target.h"
#include "holdfast/result.h"

namespace holdfast::etcd {

/// The text at `/metrics` of the endpoint, over TLS when the target uses it. Blocks.
/// unavailable: it does not answer in time, or with something else.
Result<std::string> metrics_page(const EtcdTarget& target,
                                 const Endpoint& endpoint,
                                 Duration timeout);

}  // namespace holdfast::etcd
