// What is asked for, as servers keep it: `x` exclusive, `s` shared, `p` and the number of permits.

#pragma once

#include <string>
#include <string_view>

#include "base/decimal.h"
#include "core/admission.h"

namespace holdfast::core {

inline std::string claim_text(const Claim& claim) {
  if (claim.mode == Mode::exclusive) return "x";
  return claim.mode == Mode::shared ? "s" : 'p' + std::to_string(claim.permits);
}

/// Never fails: what it does not know is exclusive.
inline Claim read_claim(std::string_view text) {
  if (text == "s") return {.mode = Mode::shared};
  if (!text.starts_with('p')) return {};
  return {.mode = Mode::permit,
          .permits = parse_decimal<std::uint32_t>(text.substr(1)).value_or(0)};
}

}  // namespace holdfast::core
