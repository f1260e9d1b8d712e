// Durations as people type and read them: 100ms, 30s, 1.5s, 5m, 24h, 0.

#pragma once

#include <string>
#include <string_view>

#include "holdfast/clock.h"
#include "holdfast/result.h"

namespace holdfast::cli {

/// A number with a unit (ms, s, m, h, d), or a bare 0. Whole milliseconds, not negative.
/// invalid_argument: the message quotes the text and says what is wrong with it.
Result<Millis> parse_duration(std::string_view text);

/// As parse_duration(), or `forever`, which gives kForever.
Result<Millis> parse_wait(std::string_view text);

/// Short, for people: "250ms", "1.5s", "5m", "3h12m".
std::string format_duration(Millis duration);

}  // namespace holdfast::cli
