// How a transcript spells times and lists.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "holdfast/clock.h"
#include "holdfast/result.h"

namespace holdfast::transcripts {

/// "10s", "200ms" or "2min", with or without a sign. invalid_argument: anything else.
Result<Duration> parse_time(std::string_view text);

/// In seconds, down to the millisecond: "9.896s".
std::string in_seconds(Duration time);

/// "n1", "n2", … The first node has index 0.
std::string node_name(std::size_t index);

std::string joined(const std::vector<std::string>& parts, std::string_view between);

/// What a transcript that makes no sense is told.
Unexpected<Error> wrong(std::string message);

}  // namespace holdfast::transcripts
