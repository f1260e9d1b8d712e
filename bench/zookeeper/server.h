// A ZooKeeper server of the benchmark's own: standalone, on a loopback port. Its data is in memory
// where the system has a file system for it, so that a figure is that of the client and not of a
// disk.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "bench/scratch.h"
#include "bench/server_process.h"
#include "holdfast/result.h"

namespace holdfast::bench {

/// Thread safety: none.
class ZookeeperServer {
 public:
  /// Starts `java` as PATH finds it with Debian's ZooKeeper, and waits until it serves.
  /// unavailable: there is none, or it does not start.
  static Result<std::unique_ptr<ZookeeperServer>> start();

  std::uint16_t port() const { return port_; }
  std::string url() const { return "zookeeper://127.0.0.1:" + std::to_string(port_); }

  /// How many requests the connections that are there have sent so far, pings included.
  double requests() const;
  /// How many watches they have set.
  double watches() const;

 private:
  ZookeeperServer() = default;

  Scratch directory_{Scratch::Place::memory};
  std::uint16_t port_{0};
  ServerProcess process_;
};

}  // namespace holdfast::bench
