#include "core/limits.h"

#include <cstdint>
#include <string>

#include "base/invalid.h"

namespace holdfast::core {
namespace {

// Length of the well-formed UTF-8 sequence at the front, or 0.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const bool overlong = (lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xf0 && byte(1) < 0x90);
  const bool surrogate = lead == 0xed && byte(1) > 0x9f;
  const bool too_large = lead == 0xf4 && byte(1) > 0x8f;
  return overlong || surrogate || too_large ? 0 : length;
}

bool is_control(std::string_view sequence) {
  const auto lead = static_cast<std::uint8_t>(sequence[0]);
  if (lead < 0x20 || lead == 0x7f) return true;
  return lead == 0xc2 && static_cast<std::uint8_t>(sequence[1]) < 0xa0;
}

Result<void> check_text(const std::string& what, std::string_view name) {
  if (name.empty()) return invalid(what + " is empty", "give a name of 1 to 512 bytes");
  if (name.size() > kNameBytesMax) {
    return invalid(what + " has " + std::to_string(name.size()) + " bytes",
                   "use at most 512 bytes");
  }
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t length = utf8_length(name.substr(at));
    if (length == 0) {
      return invalid(what + " is not UTF-8 at byte " + std::to_string(at),
                     "encode the name as UTF-8");
    }
    if (is_control(name.substr(at, length))) {
      return invalid(what + " has a control character at byte " + std::to_string(at),
                     "remove control characters");
    }
    at += length;
  }
  return {};
}

}  // namespace

Result<void> check_name(std::string_view name) { return check_text("the lock name", name); }

Result<void> check_key(std::string_view key) { return check_text("the key", key); }

Result<void> check_value(std::string_view value) {
  if (value.size() <= kValueBytesMax) return {};
  return invalid("the value has " + std::to_string(value.size()) + " bytes",
                 "use at most 1 MiB (1048576 bytes)");
}

Result<void> check_token(Token token) {
  if (token >= Token{1} && token <= Token{Token::kMax}) return {};
  return invalid("the token " + std::to_string(token.value()) + " is out of range",
                 "use the token of a lease: 1 to 2^53 - 1");
}

Result<void> check_ttl(Millis ttl) {
  if (ttl >= kTtlMin && ttl <= kTtlMax) return {};
  return invalid("the TTL of " + std::to_string(ttl.count()) + " ms is out of range",
                 "use 100 ms to 24 h");
}

Result<void> check_options(const AcquireOptions& options) {
  if (auto ttl = check_ttl(options.ttl); !ttl) return ttl;
  if (options.wait < Millis{0}) {
    return invalid("the wait of " + std::to_string(options.wait.count()) + " ms is negative",
                   "use 0 for one attempt, or kForever");
  }
  if (options.lock_delay < Millis{0} || options.lock_delay > kTtlMax) {
    return invalid(
        "the lock-delay of " + std::to_string(options.lock_delay.count()) + " ms is out of range",
        "use 0 to 24 h");
  }
  if (options.mode == Mode::permit && options.permits == 0) {
    return invalid("permit mode with 0 permits", "say how many may hold at once, 1 or more");
  }
  if (options.mode != Mode::permit && options.permits != 0) {
    return invalid("permits given without permit mode", "set the mode to permit, or permits to 0");
  }
  if (options.label.size() + options.trace_id.size() > kMetadataBytesMax) {
    return invalid("label and trace id have " +
                       std::to_string(options.label.size() + options.trace_id.size()) + " bytes",
                   "use at most 4096 bytes together");
  }
  return {};
}

}  // namespace holdfast::core
