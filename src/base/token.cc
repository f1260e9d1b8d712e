#include "holdfast/token.h"

#include <openssl/evp.h>

#include <algorithm>

#include "base/hex.h"

namespace holdfast {

std::optional<Owner> Owner::parse(std::string_view text) {
  const auto bytes = from_hex(text);
  if (!bytes || bytes->size() != Bytes{}.size()) return std::nullopt;
  Bytes owner{};
  std::copy(bytes->begin(), bytes->end(), owner.begin());
  return Owner{owner};
}

std::string Owner::to_string() const { return to_hex(bytes_); }

std::string Owner::fingerprint() const {
  constexpr std::size_t kFingerprintBytes = 8;
  // Looked up once: that takes longer than hashing.
  static const EVP_MD* const sha256 = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  std::array<std::uint8_t, EVP_MAX_MD_SIZE> digest{};
  EVP_Digest(bytes_.data(), bytes_.size(), digest.data(), nullptr, sha256, nullptr);
  return to_hex(std::span{digest}.first(kFingerprintBytes));
}

std::string_view to_string(Mode mode) noexcept {
  switch (mode) {
    case Mode::exclusive:
      return "exclusive";
    case Mode::shared:
      return "shared";
    case Mode::permit:
      return "permit";
  }
  return "unknown";
}

std::optional<Mode> parse_mode(std::string_view text) noexcept {
  for (const Mode mode : {Mode::exclusive, Mode::shared, Mode::permit}) {
    if (to_string(mode) == text) return mode;
  }
  return std::nullopt;
}

}  // namespace holdfast
