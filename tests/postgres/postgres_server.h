// PostgresServer: a PostgreSQL server of the test's own, on a loopback port and in a directory of
// its own.

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tests/servers/loopback.h"
#include "tests/servers/server_process.h"

namespace holdfast::postgres {

using servers::free_port;

/// How to start a server.
struct PostgresSettings {
  enum class Durability : std::uint8_t {
    /// Does not wait for the disk. Survives the death of its processes all the same.
    processes_only,
    /// As PostgreSQL is by default.
    full,
  };
  struct Tls {
    std::string cert_file;
    std::string key_file;
  };

  Durability durability{Durability::processes_only};
  /// Further settings, such as `max_connections=7`.
  std::vector<std::string> lines{};
  /// Lines of pg_hba.conf for TCP; without any, everybody is trusted. Over the Unix socket, the
  /// superuser `postgres` always is.
  std::vector<std::string> hba{};
  /// Copied; none: no TLS.
  std::optional<Tls> tls{};
};

/// Thread safety: none. Aborts the test program when the server does not do as told.
class PostgresServer {
 public:
  /// Starts it and waits until it serves clients. The first of a program takes a second longer.
  explicit PostgresServer(PostgresSettings settings = {});
  /// A streaming replica of `primary`, in recovery until it is promoted. It has caught up with what
  /// was there when this began.
  static PostgresServer replica_of(PostgresServer& primary, PostgresSettings settings = {}) {
    return PostgresServer{settings, &primary};
  }
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  std::uint16_t port() const { return port_; }
  /// `127.0.0.1:port`.
  std::string endpoint() const { return "127.0.0.1:" + std::to_string(port_); }
  /// `postgres://user@127.0.0.1:port/database`.
  std::string url(const std::string& user = "postgres",
                  const std::string& database = "postgres") const;
  /// Where its Unix socket and its `log` are.
  const std::filesystem::path& directory() const { return process_.directory(); }

  /// What `psql -At` prints for it, as the superuser and over the Unix socket: a line per row of
  /// the last statement, columns parted by `|`. Aborts the test program when it fails.
  std::string psql(const std::string& sql, const std::string& database = "postgres") const;
  /// A new database of that name, or of one that nobody has; its name.
  std::string create_database(std::string name = {}) const;

  /// With the data it had; waits until it serves clients.
  void start();
  /// Ends its connections, writes everything and ends. What `pg_ctl stop -m fast` does.
  void stop();
  void restart();
  /// SIGKILL to all of its processes at once.
  void kill();
  /// Stops all of its processes where they are; connections stay, and nobody answers.
  void pause();
  void resume();
  bool is_running() const { return process_.is_running(); }

  /// Of a replica: makes it a primary, and waits until it takes writes.
  void promote();
  /// Waits until a replica of this server has everything that was written until now.
  void wait_for_replica();

 private:
  PostgresServer(const PostgresSettings& settings, PostgresServer* primary);
  void make_data(const PostgresServer* primary);
  void write_hba(const PostgresSettings& settings) const;
  void install_tls(const PostgresSettings::Tls& tls) const;
  std::vector<std::string> command(const PostgresSettings& settings) const;
  std::filesystem::path data() const { return directory() / "data"; }

  std::uint16_t port_{free_port()};
  servers::ServerProcess process_{"postgres"};
  /// Stopped by pause().
  std::vector<pid_t> stopped_;
};

}  // namespace holdfast::postgres
