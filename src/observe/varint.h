// Numbers as bytes, seven bits each, the lowest first.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::observe {

inline void put_varint(std::string& to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) to += static_cast<char>(0x80 | (value & 0x7f));
  to += static_cast<char>(value);
}

/// Takes a number off the front. Empty when there is none.
inline std::optional<std::uint64_t> take_varint(std::string_view& from) {
  constexpr int kBits = 63;
  std::uint64_t value = 0;
  for (int shift = 0; shift < kBits && !from.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(from.front());
    from.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

}  // namespace holdfast::observe
