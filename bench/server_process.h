// A server of the benchmark's own: a child process that ends with it.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "holdfast/result.h"

namespace holdfast::bench {

/// A loopback port nobody listens on at this moment. 0: none.
std::uint16_t free_port();

/// Thread safety: none.
class ServerProcess {
 public:
  ServerProcess() = default;
  /// Ends it.
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  /// Starts the program of `words[0]` as PATH finds it, and waits until it answers.
  /// unavailable: there is none, or it does not start. `hint` says how to get one.
  Result<void> start(std::vector<std::string> words,
                     const std::function<bool()>& answers,
                     const std::string& hint);

 private:
  pid_t pid_{-1};
};

}  // namespace holdfast::bench
