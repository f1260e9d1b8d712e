// Whether an etcd cluster is set up so that its locks are safe.

#pragma once

#include "client/diagnose.h"

namespace holdfast {

/// Every member that the URL names. One that cannot be asked is a finding. Errors as diagnose().
Result<Diagnosis> diagnose_etcd(std::string_view url, std::optional<Millis> ttl);

}  // namespace holdfast
