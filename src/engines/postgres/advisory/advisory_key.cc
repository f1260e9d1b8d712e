#include "engines/postgres/advisory/advisory_key.h"

#include <openssl/evp.h>

#include <array>
#include <bit>
#include <optional>
#include <string>

#include "base/decimal.h"

namespace holdfast::postgres {
namespace {

/// Written in one way only: otherwise two names would be one lock.
std::optional<std::int64_t> spelled_key(std::string_view name) {
  constexpr std::string_view kSign = "id:";
  if (!name.starts_with(kSign)) return std::nullopt;
  const std::string_view digits = name.substr(kSign.size());
  const auto key = parse_decimal<std::int64_t>(digits);
  if (!key || std::to_string(*key) != digits) return std::nullopt;
  return key;
}

}  // namespace

std::int64_t advisory_key(std::string_view prefix, std::string_view name) {
  if (const auto key = spelled_key(name)) return *key;
  std::string text{prefix};
  text += name;
  // Looked up once: that takes longer than hashing.
  static const EVP_MD* const sha256 = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  std::array<std::uint8_t, EVP_MAX_MD_SIZE> digest{};
  EVP_Digest(text.data(), text.size(), digest.data(), nullptr, sha256, nullptr);
  std::uint64_t key = 0;
  for (std::size_t i = 0; i < sizeof key; ++i) key = key << 8 | digest[i];
  return std::bit_cast<std::int64_t>(key);
}

}  // namespace holdfast::postgres
