// RedisProcess: a redis-server of the test's own, on a socket in a directory of its own.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace holdfast::ports {

/// A loopback port nobody listens on at this moment.
std::uint16_t free_port();

/// Thread safety: none. Aborts the test program when the server does not start.
class RedisProcess {
 public:
  /// Starts it and waits until it answers. Keeps nothing on disk and listens on no port, unless
  /// `arguments` of the command line say otherwise.
  explicit RedisProcess(std::vector<std::string> arguments = {});
  /// A sentinel with this configuration, beside the socket and the directory.
  struct Sentinel {
    std::string configuration;
  };
  explicit RedisProcess(const Sentinel& sentinel);
  /// Kills it and removes the directory.
  ~RedisProcess();
  RedisProcess(const RedisProcess&) = delete;
  RedisProcess& operator=(const RedisProcess&) = delete;

  const std::string& socket() const { return socket_; }

  void kill();
  /// Kills it if it runs, and starts it with the same arguments.
  void restart();

  /// Stops its process where it is; connections stay, and nobody answers.
  void pause();
  void resume();

 private:
  void start();
  void wait_until_it_answers();

  std::vector<std::string> arguments_;
  std::filesystem::path directory_;
  std::string socket_;
  pid_t pid_{-1};
};

}  // namespace holdfast::ports
