// Makes a failing seed's story shorter: the fewest fault classes and the fewest events that still
// break the same promise.

#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "sim/seed_run.h"

namespace holdfast::sim {

/// Runs the seed that failed.
using Rerun = std::function<SeedReport(const SeedOptions& options)>;

enum class Ending : std::uint8_t {
  /// SeedOptions::stop_after ends the world where the promise is broken.
  prefix,
  /// The promise is about what follows the healing, so the world runs to its end;
  /// SeedOptions::events says when it is healed.
  healed,
};

struct Shrunk {
  SeedOptions options{};
  Ending ending{Ending::healed};
  /// As the shorter story breaks the promise.
  Violation violation{};
  /// How often the seed was run.
  int runs{0};
};

/// `failed` is what the seed gave with `options`, and has a violation of `checker`. Every step that
/// is kept was seen to fail.
Shrunk shrink(const SeedOptions& options,
              const SeedReport& failed,
              std::string_view checker,
              const Rerun& rerun);

/// The first violation of that checker, or null.
const Violation* find_violation(const SeedReport& report, std::string_view checker);

}  // namespace holdfast::sim
