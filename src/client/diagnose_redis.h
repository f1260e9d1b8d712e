// Whether Redis servers are set up so that their locks are safe.

#pragma once

#include "client/diagnose.h"

namespace holdfast {

// Errors as diagnose().

/// One server; of a cluster every node that the URL names; behind sentinels, the server they name.
Result<Diagnosis> diagnose_redis(std::string_view url);

/// All nodes of a Redlock. A node that cannot be asked is a finding.
Result<Diagnosis> diagnose_redlock(std::string_view url);

}  // namespace holdfast
