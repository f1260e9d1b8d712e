// Whole numbers from text.

#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>

namespace holdfast {

/// The number the whole text spells in decimal digits. Empty when it spells none or does not fit.
template <std::integral Number>
std::optional<Number> parse_decimal(std::string_view text) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stopped != end) return std::nullopt;
  return value;
}

}  // namespace holdfast
