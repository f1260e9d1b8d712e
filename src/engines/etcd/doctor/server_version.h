// Versions of etcd, and which of their defects concern locks.

#pragma once

#include <compare>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/finding.h"

namespace holdfast::etcd {

struct ServerVersion {
  int major{0};
  int minor{0};
  int patch{0};
  friend constexpr auto operator<=>(const ServerVersion&, const ServerVersion&) = default;
};

/// Of `3.5.13`, with whatever follows. Empty: it is none.
std::optional<ServerVersion> read_version(std::string_view text);

struct KnownDefect {
  std::string id;
  core::Severity severity{core::Severity::warning};
  /// What goes wrong.
  std::string what;
  /// In which release of its line it is mended.
  std::string fixed_in;
};

/// Those of a server of this version in a cluster of so many voters; 0: nobody knows.
std::vector<KnownDefect> defects_of(const ServerVersion& version, std::size_t voters);

}  // namespace holdfast::etcd
