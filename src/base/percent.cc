#include "base/percent.h"

#include <cstdint>

#include "base/hex.h"

namespace holdfast {
namespace {

bool is_alphanumeric(char c) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return letter || (c >= '0' && c <= '9');
}

}  // namespace

std::string percent_encode(std::string_view text, std::string_view plain) {
  std::string encoded;
  for (const char c : text) {
    if (is_alphanumeric(c) || plain.find(c) != std::string_view::npos) {
      encoded.push_back(c);
      continue;
    }
    const auto byte = static_cast<std::uint8_t>(c);
    encoded += '%' + to_hex({&byte, 1});
  }
  return encoded;
}

std::optional<std::string> percent_decode(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      decoded.push_back(text[at]);
      continue;
    }
    const auto byte = from_hex(text.substr(at + 1, 2));
    if (!byte || byte->size() != 1) return std::nullopt;
    decoded.push_back(static_cast<char>(byte->front()));
    at += 2;
  }
  return decoded;
}

}  // namespace holdfast
