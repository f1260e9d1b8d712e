// The decisions of Store::update(): when to try again, and when to give up.

#pragma once

#include <cstdint>

#include "holdfast/clock.h"
#include "holdfast/result.h"
#include "holdfast/store_types.h"

namespace holdfast::core {

/// A random pause after so many conflicts: full jitter below a bound that grows.
Duration update_pause(std::uint32_t conflicts);

/// invalid_argument: attempts out of range.
Result<void> check_update(const UpdateOptions& options);

StoreError too_many_conflicts(std::uint32_t attempts);

}  // namespace holdfast::core
