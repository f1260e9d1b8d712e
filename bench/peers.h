// Other lock clients beside Holdfast, on the same server in the same run (bench/peers).

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/report.h"

namespace holdfast::bench {

/// The names of the cases that other clients are compared in.
inline constexpr std::string_view kOneCaller = "one caller, acquire+release";
inline constexpr std::string_view kHandOver = "contended hand-over, median";

enum class Peers : std::uint8_t {
  /// What needs nothing from the network: what Debian has.
  at_hand,
  /// All whose toolchain is present; what they need is fetched from their registries.
  all,
};

/// Folders of bench/peers.
struct PeerPrograms {
  std::vector<std::string> at_hand;
  std::vector<std::string> fetched;
};

/// Adds a comparison without a target for each peer that can be run; one that cannot is left out,
/// which `progress` is told.
/// Precondition: the report has our own figures.
void add_peers(Report& report,
               const PeerPrograms& programs,
               std::uint16_t port,
               Peers peers,
               const Progress& progress);

}  // namespace holdfast::bench
