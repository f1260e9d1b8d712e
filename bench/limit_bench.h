// How long one decision of a rate limit takes at the local engine.

#pragma once

#include "bench/report.h"
#include "holdfast/client.h"

namespace holdfast::bench {

/// Adds its cases: against what any such decision needs, and against a microsecond.
Result<void> add_limits(Report& report, const Client& client);

}  // namespace holdfast::bench
