// A redis-server of the benchmark's own, on a loopback port, that keeps nothing on disk.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/scratch.h"
#include "holdfast/result.h"

namespace holdfast::bench {

/// Thread safety: none.
class RedisServer {
 public:
  /// Starts `redis-server` as PATH finds it, and waits until it answers.
  /// unavailable: there is none, or it does not start.
  static Result<std::unique_ptr<RedisServer>> start();
  /// Ends it.
  ~RedisServer();
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;

  std::uint16_t port() const { return port_; }
  std::string url() const { return "redis://127.0.0.1:" + std::to_string(port_); }

 private:
  RedisServer() = default;
  bool answers() const;

  Scratch directory_;
  std::uint16_t port_{0};
  pid_t pid_{-1};
};

}  // namespace holdfast::bench
