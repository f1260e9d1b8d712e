// The benchmark of the local store.

#pragma once

#include "bench/report.h"
#include "holdfast/result.h"

namespace holdfast::bench {

/// Adds the cases of the store: fenced writes against SQLite doing the same write, and memory over
/// a million operations. Errors as Client::store.
Result<void> add_store(Report& report, const Progress& progress);

}  // namespace holdfast::bench
