// Starts the program of a run.

#pragma once

#include <sys/types.h>

#include <csignal>
#include <string>
#include <vector>

namespace holdfast::cli {

enum class TerminalUse {
  /// The program gets the terminal when it first asks for it.
  on_demand,
  /// The program's group becomes the terminal's foreground group before it starts.
  at_once,
};

struct ChildSpec {
  std::vector<std::string> program;
  /// NAME=value, put over what is inherited.
  std::vector<std::string> environment;
  /// The signal mask the program starts with.
  sigset_t signal_mask{};
  TerminalUse terminal{TerminalUse::on_demand};
};

struct StartedChild {
  /// Also its process group. 0: it could not be started.
  pid_t pid{0};
  /// Why it could not: the errno of fork or exec.
  int error{0};
};

/// Forks and executes. The program leads a group of its own and is killed if the caller dies. When
/// this returns it runs, or has failed and been waited for.
StartedChild start_child(const ChildSpec& spec);

}  // namespace holdfast::cli
