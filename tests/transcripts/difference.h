// Two texts compared line by line.

#pragma once

#include <string>
#include <string_view>

namespace holdfast::transcripts {

/// Empty for equal texts; otherwise the lines that only one has, with "-" for `expected` and "+"
/// for `actual`, and where `expected` has them.
std::string difference(std::string_view expected, std::string_view actual);

}  // namespace holdfast::transcripts
