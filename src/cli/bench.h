// `holdfast bench`: how fast an engine is here, measured against what the machine can do.

#pragma once

#include <cstdint>

#include "bench/peers.h"
#include "cli/console.h"

namespace holdfast::cli {

enum class BenchEngine : std::uint8_t { local, redis, etcd, zookeeper, postgres };

struct BenchOptions {
  BenchEngine engine{BenchEngine::local};
  bench::Peers peers{bench::Peers::at_hand};
  Format format{Format::human};
};

/// Measures, prints and gives the exit code: 1 when a target was missed.
int run_bench(const BenchOptions& options);

}  // namespace holdfast::cli
