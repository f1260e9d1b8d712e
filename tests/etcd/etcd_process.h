// EtcdProcess: an etcd server of the test's own, on loopback ports and in a directory of its own.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace holdfast::etcd {

/// A loopback port nobody listens on at this moment, outside the range that connections draw from.
std::uint16_t free_port();

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
  /// Kills it and removes the directory.
  ~EtcdProcess();
  EtcdProcess(const EtcdProcess&) = delete;
  EtcdProcess& operator=(const EtcdProcess&) = delete;

  /// `127.0.0.1:port`, for clients.
  const std::string& endpoint() const { return endpoint_; }
  const EtcdPorts& ports() const { return ports_; }
  const std::filesystem::path& directory() const { return directory_; }

  /// Begins to start it, with the data it had.
  void start();
  /// Waits until it answers and follows a leader.
  void wait_until_healthy();
  /// Kills it if it runs, and starts it until it is healthy.
  void restart();

  /// SIGKILL.
  void kill();
  /// SIGTERM, and waits until it is gone.
  void stop();
  /// Stops its process where it is; connections stay, and nobody answers.
  void pause();
  void resume();

  bool is_running() const { return pid_ > 0; }
  pid_t pid() const { return pid_; }

  /// Whether it runs, answers and follows a leader.
  bool is_healthy() const;
  /// The value of a metric without labels, as `/metrics` shows it. Empty: it does not answer.
  std::string metric(const std::string& name) const;

 private:
  void end(int signal);

  std::string name_;
  EtcdPorts ports_;
  std::string endpoint_;
  std::filesystem::path directory_;
  std::vector<std::string> arguments_;
  pid_t pid_{-1};
  bool paused_{false};
};

}  // namespace holdfast::etcd
