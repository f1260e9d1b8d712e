// `holdfast bench`: how fast an engine is here, measured against what the machine can do.

#pragma once

#include <string>

#include "cli/console.h"

namespace holdfast::cli {

struct BenchOptions {
  /// Which engine to measure: "local".
  std::string engine;
  Format format{Format::human};
};

/// Measures, prints and gives the exit code.
int run_bench(const BenchOptions& options);

}  // namespace holdfast::cli
