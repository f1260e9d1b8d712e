// PgBouncer: a pooler of the test's own before a PostgresServer.

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/postgres/postgres_server.h"

namespace holdfast::postgres {

/// Thread safety: none. Aborts the test program when it does not do as told.
class PgBouncer {
 public:
  struct Settings {
    /// session, transaction or statement.
    std::string pool_mode{"transaction"};
    /// Who may connect, without a password.
    std::vector<std::string> users{"postgres"};
    /// Further lines of its section, such as `default_pool_size=2`.
    std::vector<std::string> lines{};
  };

  /// Starts it and waits until it listens. The server may come and go.
  explicit PgBouncer(const PostgresServer& server) : PgBouncer{server, Settings{}} {}
  PgBouncer(const PostgresServer& server, const Settings& settings);

  std::uint16_t port() const { return port_; }
  /// `127.0.0.1:port`.
  std::string endpoint() const { return "127.0.0.1:" + std::to_string(port_); }
  /// `postgres://user@127.0.0.1:port/database`.
  std::string url(const std::string& user = "postgres",
                  const std::string& database = "postgres") const;
  const std::filesystem::path& directory() const { return process_.directory(); }

  /// SIGKILL.
  void kill();
  /// Waits until it listens.
  void start();
  void pause() { process_.pause(); }
  void resume() { process_.resume(); }

 private:
  std::uint16_t port_{free_port()};
  servers::ServerProcess process_{"pgbouncer"};
};

}  // namespace holdfast::postgres
