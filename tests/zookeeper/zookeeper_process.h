// ZookeeperProcess: a ZooKeeper server of the test's own, on loopback ports and in a directory of
// its own.

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "holdfast/clock.h"
#include "tests/servers/loopback.h"
#include "tests/servers/server_process.h"

namespace holdfast::zookeeper {

using servers::free_port;

/// What one server listens on.
struct ZookeeperPorts {
  std::uint16_t clients{free_port()};
  std::uint16_t quorum{free_port()};
  std::uint16_t election{free_port()};
};

/// How to start a server.
struct ZookeeperSettings {
  Millis tick{500};
  Millis min_session_timeout{1'000};
  Millis max_session_timeout{60000};
  /// Connections of one address; zero: any number.
  int max_connections{0};
  /// In ticks: how long a follower may be behind before the leader gives it up.
  int sync_limit{10};
  /// Does not wait for the disk. Needed only where the directory is on one.
  bool without_fsync{false};
  /// Further lines of zoo.cfg, such as `authProvider.1=…`.
  std::vector<std::string> lines{};
  /// Further arguments of the JVM, such as `-Dznode.container.checkIntervalMs=200`.
  std::vector<std::string> java{};
};

/// In ZookeeperSettings::java: `super:secret` may do everything, whatever an ACL says.
inline constexpr const char* kSuperuser =
    "-Dzookeeper.DigestAuthenticationProvider.superDigest=super:lK75jTNcA+U9vtVEw5vB51mj/w4=";

/// Thread safety: none. Aborts the test program when the server does not do as told.
class ZookeeperProcess {
 public:
  /// `members` as zoo.cfg has them, one line each; none: standalone. Does not start it.
  ZookeeperProcess(int number,
                   const ZookeeperPorts& ports,
                   const std::vector<std::string>& members,
                   const ZookeeperSettings& settings);

  /// `127.0.0.1:port`, for clients.
  const std::string& endpoint() const { return endpoint_; }
  const ZookeeperPorts& ports() const { return ports_; }
  const std::filesystem::path& directory() const { return process_.directory(); }

  /// Begins to start it, with the data it had.
  void start() { process_.start(); }
  /// Waits until it serves clients.
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

  /// What it says to a four-letter word, such as `srvr`. Empty: it does not answer.
  std::string tell(const std::string& word) const;
  /// `standalone`, `leader` or `follower`; empty: it does not serve clients.
  std::string mode() const;
  bool is_healthy() const { return !mode().empty(); }

 private:
  ZookeeperPorts ports_;
  std::string endpoint_;
  servers::ServerProcess process_;
};

}  // namespace holdfast::zookeeper
