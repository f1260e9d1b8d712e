// The limits of DESIGN that hold on every engine, checked before anything is touched.

#pragma once

#include <string_view>

#include "holdfast/options.h"
#include "holdfast/result.h"

namespace holdfast::core {

/// 1 to 512 bytes of UTF-8 without control characters; otherwise invalid_argument.
Result<void> check_name(std::string_view name);

/// Every field of the options; the first that is wrong is named in an invalid_argument.
Result<void> check_options(const AcquireOptions& options);

/// 100 ms to 24 h; otherwise invalid_argument.
Result<void> check_ttl(Millis ttl);

}  // namespace holdfast::core
