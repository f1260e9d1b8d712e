// Who may hold: one rule for every engine that keeps its contenders in order of arrival.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "holdfast/token.h"

namespace holdfast::core {

/// What a contender asks for.
struct Claim {
  Mode mode{Mode::exclusive};
  /// Mode::permit: how many may hold at once.
  std::uint32_t permits{0};
};

enum class Admission : std::uint8_t {
  granted,
  must_wait,
  /// Somebody ahead uses the same name with another number of permits: Errc::invalid_argument.
  permits_differ,
};

/// Whom one who asked for a lock found in its way.
enum class Met : std::uint8_t { nobody, others };

/// Those that arrived before a claim and are still there, summed up.
class Ahead {
 public:
  void add(const Claim& claim);

  /// Whether `claim` holds. A waiting writer ahead stops a reader just as a holding one does.
  Admission admit(const Claim& claim) const;

 private:
  std::size_t exclusive_{0};
  std::size_t shared_{0};
  std::size_t permit_{0};
  std::uint32_t permits_{0};
  bool permits_mixed_{false};
};

/// The same for a list, in any order.
Admission admit(std::span<const Claim> ahead, const Claim& claim);

}  // namespace holdfast::core
