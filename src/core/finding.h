// What a doctor finds wrong with how an engine is set up.

#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::core {

enum class Severity : std::uint8_t {
  /// Works less well than it could, or gets dangerous when something else fails.
  warning,
  /// Two may hold a lock at once, or locks do not work at all.
  danger,
};

constexpr std::string_view to_string(Severity severity) {
  return severity == Severity::danger ? "danger" : "warning";
}

struct Finding {
  /// Short, stable and unique, for programs.
  std::string id;
  Severity severity{Severity::warning};
  /// What is so, and what can go wrong because of it.
  std::string message;
  /// The exact setting to change.
  std::string fix;
};
using Findings = std::vector<Finding>;

inline bool is_safe(const Findings& findings) {
  return std::ranges::none_of(
      findings, [](const Finding& finding) { return finding.severity == Severity::danger; });
}

}  // namespace holdfast::core
