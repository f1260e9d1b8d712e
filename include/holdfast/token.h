// Tokens, owners and modes: the small values every lock is described by.

#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast {

/// A number that rises with every grant of one lock name and never repeats.
///
/// Pass it along with every write to the resource the lock protects, and let the resource refuse a
/// token lower than the highest it has seen. Nothing else stops a holder that was paused past its
/// deadline and does not know it. Tokens stay below 2^53: exact in JSON and Lua.
class Token {
 public:
  static constexpr std::uint64_t kMax = (std::uint64_t{1} << 53) - 1;

  constexpr explicit Token(std::uint64_t value) : value_{value} {}
  constexpr std::uint64_t value() const { return value_; }
  friend constexpr auto operator<=>(Token, Token) = default;

 private:
  std::uint64_t value_;
};

/// A fresh 128-bit secret per acquisition. Whoever knows it may renew and release the lease.
/// Others see only its fingerprint.
class Owner {
 public:
  using Bytes = std::array<std::uint8_t, 16>;

  constexpr explicit Owner(const Bytes& bytes) : bytes_{bytes} {}

  /// 32 hexadecimal digits, as to_string() prints them; anything else is empty.
  static std::optional<Owner> parse(std::string_view text);

  const Bytes& bytes() const { return bytes_; }
  std::string to_string() const;
  /// 16 hexadecimal digits of a one-way hash: names the owner without giving the secret away.
  std::string fingerprint() const;

  friend constexpr auto operator<=>(const Owner&, const Owner&) = default;

 private:
  Bytes bytes_;
};

/// How a lock is held.
enum class Mode : std::uint8_t {
  /// One holder.
  exclusive,
  /// Any number of shared holders, no exclusive one.
  shared,
  /// At most N holders, all asking with the same N. Not fenced: several tokens are valid at once.
  permit,
};

/// "exclusive", "shared" or "permit".
std::string_view to_string(Mode mode) noexcept;
std::optional<Mode> parse_mode(std::string_view text) noexcept;

}  // namespace holdfast
