// EtcdProcess: an etcd server of the test's own, on loopback ports and in a directory of its own.

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/servers/loopback.h"
#include "tests/servers/server_process.h"

namespace holdfast::etcd {

using servers::free_port;

/// What one server listens on.
struct EtcdPorts {
  std::uint16_t clients{free_port()};
  std::uint16_t peers{free_port()};
  /// Health and metrics without TLS, whatever clients need.
  std::uint16_t metrics{free_port()};
};

/// Files in PEM format for servers that speak TLS with clients.
struct EtcdTls {
  enum class Clients : std::uint8_t { anyone, with_certificate };

  std::string ca_file;
  std::string cert_file;
  std::string key_file;
  Clients clients{Clients::anyone};
};

/// How to start a server. `tls` without files: plain.
struct EtcdSettings {
  EtcdTls tls{};
  /// Further ones of the command line.
  std::vector<std::string> arguments{};
};

/// Thread safety: none. Aborts the test program when the server does not do as told.
class EtcdProcess {
 public:
  /// `members` as `--initial-cluster` wants it. Does not start it.
  EtcdProcess(std::string name,
              const EtcdPorts& ports,
              const std::string& members,
              const EtcdSettings& settings);

  /// `127.0.0.1:port`, for clients.
  const std::string& endpoint() const { return endpoint_; }
  const EtcdPorts& ports() const { return ports_; }
  const std::filesystem::path& directory() const { return process_.directory(); }

  /// Begins to start it, with the data it had.
  void start() { process_.start(); }
  /// Waits until it answers and follows a leader.
  void wait_until_healthy();
  /// Kills it if it runs, and starts it until it is healthy.
  void restart();

  /// SIGKILL.
  void kill();
  /// SIGTERM, and waits until it is gone.
  void stop();
  /// Stops its process where it is; connections stay, and nobody answers.
  void pause() { process_.pause(); }
  void resume() { process_.resume(); }

  bool is_running() const { return process_.is_running(); }
  pid_t pid() const { return process_.pid(); }

  /// Whether it runs, answers and follows a leader.
  bool is_healthy() const;
  /// The value of a metric without labels, as `/metrics` shows it. Empty: it does not answer.
  std::string metric(const std::string& name) const;

 private:
  std::string name_;
  EtcdPorts ports_;
  std::string endpoint_;
  servers::ServerProcess process_;
};

}  // namespace holdfast::etcd
