#include "holdfast/sequencer.h"

#include <array>
#include <cstdint>
#include <optional>

#include "base/decimal.h"
#include "base/hex.h"
#include "base/percent.h"
#include "core/limits.h"

namespace holdfast {
namespace {

constexpr std::string_view kVersion = "hf1";
constexpr std::string_view kPlain = "-._~/";
constexpr std::size_t kFields = 6;

std::optional<std::array<std::string_view, kFields>> split(std::string_view text) {
  std::array<std::string_view, kFields> fields;
  for (std::size_t i = 0; i + 1 < kFields; ++i) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    fields[i] = text.substr(0, colon);
    text.remove_prefix(colon + 1);
  }
  fields.back() = text;
  return fields;
}

std::optional<Token> parse_token(std::string_view text) {
  const auto value = parse_decimal<std::uint64_t>(text);
  if (!value || *value > Token::kMax) return std::nullopt;
  return Token{*value};
}

std::optional<std::string> parse_fingerprint(std::string_view text) {
  constexpr std::size_t kFingerprintBytes = 8;
  const auto bytes = from_hex(text);
  if (!bytes || bytes->size() != kFingerprintBytes) return std::nullopt;
  return to_hex(*bytes);
}

std::optional<Sequencer> read(std::string_view text) {
  const auto fields = split(text);
  if (!fields || (*fields)[0] != kVersion) return std::nullopt;
  const auto mode = parse_mode((*fields)[1]);
  const auto token = parse_token((*fields)[2]);
  auto owner_fp = parse_fingerprint((*fields)[3]);
  auto domain = percent_decode((*fields)[4]);
  auto name = percent_decode((*fields)[5]);
  if (!mode || !token || !owner_fp || !domain || !name) return std::nullopt;
  if (!core::check_name(*name)) return std::nullopt;
  return Sequencer{std::move(*domain), std::move(*name), *mode, *token, std::move(*owner_fp)};
}

}  // namespace

std::string to_string(const Sequencer& sequencer) {
  std::string text{kVersion};
  text += ':';
  text += to_string(sequencer.mode);
  text += ':' + std::to_string(sequencer.token.value());
  text += ':' + sequencer.owner_fp;
  text += ':' + percent_encode(sequencer.domain, kPlain);
  text += ':' + percent_encode(sequencer.name, kPlain);
  return text;
}

Result<Sequencer> parse_sequencer(std::string_view text) {
  auto sequencer = read(text);
  // There is one way to write each sequencer, so that equal ones compare equal as strings.
  if (!sequencer || to_string(*sequencer) != text) {
    return Unexpected{Error{Errc::invalid_argument,
                            "this is not a sequencer",
                            "give the string exactly as the lease printed it: hf1:…"}};
  }
  return *std::move(sequencer);
}

}  // namespace holdfast
