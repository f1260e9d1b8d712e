// Text from elsewhere, made fit for a terminal or for JSON.

#pragma once

#include <span>
#include <string>
#include <string_view>

namespace holdfast::cli {

/// The text as UTF-8: every byte that is not part of a well-formed sequence becomes U+FFFD.
std::string to_utf8(std::string_view text);

bool is_utf8(std::string_view text);

/// As to_utf8(), and control characters are written as \xNN: a label or a name cannot move the
/// cursor or change the terminal's colours.
std::string printable(std::string_view text);

/// Whether the text is UTF-8 without control characters.
bool is_printable(std::string_view text);

/// The candidate that `typed` was most likely meant to be; empty when none is near.
std::string nearest(std::string_view typed, std::span<const std::string> candidates);

}  // namespace holdfast::cli
