// V1: every request for a lock is answered by the time its caller named, as far as the caller's
// process ran.

#pragma once

#include "sim/world/history.h"

namespace holdfast::sim {

Violations check_progress(const History& history);

}  // namespace holdfast::sim
