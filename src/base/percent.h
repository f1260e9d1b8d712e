// Percent-encoding, as URLs have it.

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace holdfast {

/// `%xx` for everything but letters, digits and the characters of `plain`.
std::string percent_encode(std::string_view text, std::string_view plain = "-._~/:");

/// Empty when a `%` is not followed by two hexadecimal digits.
std::optional<std::string> percent_decode(std::string_view text);

}  // namespace holdfast
