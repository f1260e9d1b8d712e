// The parameter timeout= of engine URLs.

#pragma once

#include <string_view>

#include "holdfast/clock.h"
#include "holdfast/result.h"

namespace holdfast {

/// `500ms`, `5s` or `2m`: more than nothing, and up to 24 hours; otherwise invalid_argument.
Result<Millis> parse_url_timeout(std::string_view text);

}  // namespace holdfast
