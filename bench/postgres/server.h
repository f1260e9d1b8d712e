// A PostgreSQL server of the benchmark's own, on a loopback port, with its usual durability. Its
// data is in memory where the system has a file system for it, so that a figure is that of the
// client and the statements and not of a disk.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "bench/scratch.h"
#include "bench/server_process.h"
#include "holdfast/result.h"

namespace holdfast::bench {

/// Thread safety: none.
class PostgresServer {
 public:
  enum class Log : std::uint8_t { none, statements };

  /// Starts Debian's PostgreSQL 15, as the user `postgres` for root, and waits until it serves.
  /// unavailable: there is none, or it does not start.
  static Result<std::unique_ptr<PostgresServer>> start(Log log = Log::none);

  std::uint16_t port() const { return port_; }
  /// `mode` as PostgreSQL URLs have it.
  std::string url(const std::string& mode) const;

  /// How many statements with `part` in their text it has run so far. Precondition: it logs them.
  double statements(const std::string& part = {}) const;

 private:
  PostgresServer() = default;

  Scratch directory_{Scratch::Place::memory};
  std::uint16_t port_{0};
  ServerProcess process_;
};

}  // namespace holdfast::bench
