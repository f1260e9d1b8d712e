// An etcd of the benchmark's own: one member on loopback ports. Its data is in memory where the
// system has a file system for it, so that a figure is that of the client and not of a disk.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "bench/scratch.h"
#include "bench/server_process.h"
#include "holdfast/result.h"

namespace holdfast::bench {

/// How many messages the server has received so far.
struct EtcdLoad {
  double keep_alives{0};
  double others{0};
};

/// Thread safety: none.
class EtcdServer {
 public:
  /// Starts `etcd` as PATH finds it, and waits until it is well.
  /// unavailable: there is none, or it does not start.
  static Result<std::unique_ptr<EtcdServer>> start();

  std::uint16_t port() const { return port_; }
  std::string url() const { return "etcd://127.0.0.1:" + std::to_string(port_); }

  /// As the server itself counts them, whether they came alone or in a stream.
  EtcdLoad load() const;

 private:
  EtcdServer() = default;

  Scratch directory_{Scratch::Place::memory};
  std::uint16_t port_{0};
  std::uint16_t metrics_port_{0};
  ServerProcess process_;
};

}  // namespace holdfast::bench
