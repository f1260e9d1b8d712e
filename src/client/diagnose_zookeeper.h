// Whether a ZooKeeper ensemble is set up so that its locks are safe.

#pragma once

#include "client/diagnose.h"

namespace holdfast {

/// Every server that the URL names. One that cannot be asked is a finding. Errors as diagnose().
Result<Diagnosis> diagnose_zookeeper(std::string_view url, std::optional<Millis> ttl);

}  // namespace holdfast
