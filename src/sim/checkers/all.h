// All checkers at once.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "sim/world/history.h"

namespace holdfast::sim {

/// Whether the resource checks tokens.
enum class Register : std::uint8_t { fenced, unfenced };

struct Judgement {
  Violations violations;
  /// Two holders at once, by the class of the fault that allowed it.
  std::array<std::uint64_t, kFaultClasses> breaches{};
  /// Acknowledged writes that are gone. At a fenced register each is a violation too; at an
  /// unfenced one only in a history without any fault.
  std::size_t lost_updates{0};
};

/// G1, G2 and G4 are promises of a fenced register and not demanded of another.
Judgement judge(const History& history, Register kind);

}  // namespace holdfast::sim
