// Rates as people type them: 10/s, 100/m, 5/h, 3/10s.

#pragma once

#include <string_view>

#include "holdfast/rate_limit.h"

namespace holdfast::cli {

/// A whole number of permits, a slash, and in how much time: s, m, h, d, or a duration.
/// invalid_argument: the message quotes the text and says what is wrong with it.
Result<Rate> parse_rate(std::string_view text);

}  // namespace holdfast::cli
