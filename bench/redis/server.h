// A redis-server of the benchmark's own, on a loopback port, that keeps nothing on disk.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "bench/scratch.h"
#include "bench/server_process.h"
#include "holdfast/result.h"

namespace holdfast::bench {

/// Thread safety: none.
class RedisServer {
 public:
  /// Starts `redis-server` as PATH finds it, and waits until it answers.
  /// unavailable: there is none, or it does not start.
  static Result<std::unique_ptr<RedisServer>> start();

  std::uint16_t port() const { return port_; }
  std::string url() const { return "redis://127.0.0.1:" + std::to_string(port_); }

 private:
  RedisServer() = default;

  Scratch directory_;
  std::uint16_t port_{0};
  ServerProcess process_;
};

}  // namespace holdfast::bench
