// Runs a program and keeps what it prints.

#pragma once

#include <csignal>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "holdfast/result.h"

namespace holdfast::cli {

struct CaptureSpec {
  std::vector<std::string> program;
  /// NAME=value, put over what is inherited.
  std::vector<std::string> environment{};
  /// What the program finds on stdin. Empty: what we have there.
  std::optional<std::string> input{};
  /// At most this much is kept.
  std::size_t limit{0};
  /// The signal mask the program starts with. Empty: ours.
  std::optional<sigset_t> signal_mask{};
};

struct Captured {
  std::string output;
  /// It printed more than the limit, and nobody listened any more.
  bool too_long{false};
  /// As waitpid(2) gives it.
  int wait_status{0};
  /// The errno of a program that could not be started; 0: it was.
  int start_error{0};
};

/// Waits until the program has ended and nobody holds its stdout. stderr is ours.
/// io_error: the operating system gave no pipe or no memory.
Result<Captured> run_captured(const CaptureSpec& spec);

/// What to say about a program that could not be started.
Error could_not_start(const std::string& program, int error);

}  // namespace holdfast::cli
