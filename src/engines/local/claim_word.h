// What a contender asks for, packed into the one word its record keeps it in.

#pragma once

#include <cstdint>

#include "core/admission.h"

namespace holdfast::local {

struct ClaimWord {
  static constexpr std::uint64_t kByMail = 0x100;
  static constexpr std::uint64_t kCommon = 0x200;

  std::uint64_t raw{0};

  static constexpr ClaimWord of(const core::Claim& claim) {
    return {static_cast<std::uint64_t>(claim.mode) | std::uint64_t{claim.permits} << 32};
  }
  constexpr core::Claim claim() const {
    return {.mode = static_cast<Mode>(raw & 0xff),
            .permits = static_cast<std::uint32_t>(raw >> 32)};
  }
  /// Woken through its member's mail rather than by a thread of its own.
  constexpr bool by_mail() const { return (raw & kByMail) != 0; }
  /// Its record belongs to nobody in particular, so that the lease may outlive the process.
  constexpr bool common() const { return (raw & kCommon) != 0; }
  constexpr ClaimWord with(std::uint64_t flag) const { return {raw | flag}; }
};

}  // namespace holdfast::local
