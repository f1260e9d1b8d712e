// Other lock clients beside Holdfast, on the same server in the same run (bench/peers).

#pragma once

#include <cstdint>

#include "bench/redis/server.h"
#include "bench/report.h"

namespace holdfast::bench {

enum class Peers : std::uint8_t {
  /// What needs nothing from the network: redis-py as Debian has it.
  at_hand,
  /// All whose toolchain is present; what they need is fetched from their registries.
  all,
};

/// Adds a comparison without a target for each peer that can be run; one that cannot is left out.
/// Precondition: the report has our own figures.
void add_peers(Report& report, const RedisServer& server, Peers peers, const Progress& progress);

}  // namespace holdfast::bench
