// ServerProcess: a server of the test's own, in a directory of its own.

#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace holdfast::servers {

/// Runs a command to its end: the path of a program, then its arguments. What it says goes to the
/// end of `log`. Aborts the test program when it fails.
void run_to_end(std::vector<std::string> command, const std::filesystem::path& log);

/// Thread safety: none. Aborts the test program when the server does not do as told.
class ServerProcess {
 public:
  /// `kind` names the directory and messages. Does not start it.
  explicit ServerProcess(std::string kind);
  /// Kills it and removes the directory.
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  /// In memory where there is a file system with room for it.
  const std::filesystem::path& directory() const { return directory_; }

  /// What start() runs: the path of a program, then its arguments. What it says goes to the file
  /// `log` in the directory.
  void set_command(std::vector<std::string> command) { command_ = std::move(command); }

  void start();
  /// Waits until `ready` says so.
  void wait_until(const std::function<bool()>& ready);

  /// Ends it, paused or not, and waits until it is gone. Nothing if it does not run.
  void end(int signal);
  /// Stops its process where it is; connections stay, and nobody answers.
  void pause();
  void resume();

  bool is_running() const { return pid_ > 0; }
  bool is_paused() const { return paused_; }
  pid_t pid() const { return pid_; }

 private:
  std::string kind_;
  std::filesystem::path directory_;
  std::vector<std::string> command_;
  pid_t pid_{-1};
  bool paused_{false};
};

}  // namespace holdfast::servers
