// The limits of DESIGN that hold on every engine, checked before anything is touched.

#pragma once

#include <string_view>

#include "holdfast/options.h"
#include "holdfast/result.h"
#include "holdfast/store_types.h"

namespace holdfast::core {

/// 1 to 512 bytes of UTF-8 without control characters; otherwise invalid_argument.
Result<void> check_name(std::string_view name);

/// The same for the keys of a store.
Result<void> check_key(std::string_view key);

/// At most 1 MiB; otherwise invalid_argument.
Result<void> check_value(std::string_view value);

/// 1 to 2^53 - 1; otherwise invalid_argument.
Result<void> check_token(Token token);

/// Every field of the options; the first that is wrong is named in an invalid_argument.
Result<void> check_options(const AcquireOptions& options);

/// 100 ms to 24 h; otherwise invalid_argument.
Result<void> check_ttl(Millis ttl);

}  // namespace holdfast::core
