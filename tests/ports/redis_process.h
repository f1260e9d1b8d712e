// RedisProcess: a redis-server of the test's own, on a socket in a directory of its own.

#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace holdfast::ports {

/// Thread safety: none. Aborts the test program when the server does not start.
class RedisProcess {
 public:
  /// Starts it and waits until it answers. Keeps nothing on disk.
  RedisProcess();
  /// Kills it and removes the directory.
  ~RedisProcess();
  RedisProcess(const RedisProcess&) = delete;
  RedisProcess& operator=(const RedisProcess&) = delete;

  const std::string& socket() const { return socket_; }

  void kill();

 private:
  void wait_until_it_answers();

  std::filesystem::path directory_;
  std::string socket_;
  pid_t pid_{-1};
};

}  // namespace holdfast::ports
