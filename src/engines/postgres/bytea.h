// Bytes as PostgreSQL writes them: hexadecimal digits.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/hex.h"

namespace holdfast::postgres {

/// `\x` and the digits: what PostgreSQL reads as a bytea.
inline std::string to_bytea(std::string_view bytes) {
  return "\\x" + to_hex({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

/// What encode(…, 'hex') wrote. Empty: it did not.
inline std::optional<std::string> to_bytes(std::string_view digits) {
  const auto bytes = from_hex(digits);
  if (!bytes) return std::nullopt;
  return std::string{bytes->begin(), bytes->end()};
}

}  // namespace holdfast::postgres
