// Bytes as hexadecimal text and back.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast {

std::string to_hex(std::span<const std::uint8_t> bytes);

/// Empty when the text has an odd length or another character than a hexadecimal digit.
std::optional<std::vector<std::uint8_t>> from_hex(std::string_view text);

}  // namespace holdfast
