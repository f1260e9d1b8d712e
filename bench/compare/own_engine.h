// Engines that a comparison starts for itself, by name.

#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "holdfast/result.h"

namespace holdfast::bench {

/// In the order in which they are shown.
inline constexpr std::array<std::string_view, 7> kOwnEngines{
    "local", "redis", "redlock", "etcd", "zookeeper", "postgres", "postgres-advisory"};

struct OwnEngine {
  std::string url;
  /// What is to be done before the first client connects. It starts threads, so a process that is
  /// to fork must not do it. Empty: nothing.
  std::function<Result<void>()> prepare{};
  /// They end with it.
  std::shared_ptr<void> servers{};
};

/// Starts what the engine needs: servers on loopback ports, their data in memory where the system
/// has a file system for it, and for `local` a directory. Starts no thread.
/// unavailable: a server is not installed, and the remedy says how to get it, or does not start.
/// Precondition: one of kOwnEngines.
Result<OwnEngine> start_engine(std::string_view name);

}  // namespace holdfast::bench
