// The words of a violation.

#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include "holdfast/clock.h"
#include "holdfast/token.h"

namespace holdfast::sim {

inline std::string in_words(std::string_view text) { return std::string{text}; }
std::string in_words(std::unsigned_integral auto number) { return std::to_string(number); }
inline std::string in_words(Token token) { return "token " + std::to_string(token.value()); }
/// In milliseconds: "12.5 ms"; "never" for kNever.
std::string in_words(Duration time);
std::string in_words(TimePoint time);

/// All parts in one string.
template <class... Parts>
std::string sentence(const Parts&... parts) {
  return (in_words(parts) + ...);
}

}  // namespace holdfast::sim
