// The exit codes of the command, one table for every subcommand.

#pragma once

#include "holdfast/error.h"

namespace holdfast::cli {

enum class ExitCode : int {
  ok = 0,
  /// Something looked for was found: a finding of `doctor` or `lab`, a target missed in `bench`.
  finding = 1,
  /// The command line is not understood.
  usage = 64,
  /// An argument is understood and wrong.
  bad_input = 65,
  not_found = 66,
  unavailable = 69,
  internal = 70,
  /// State is damaged, or the operating system refused an operation on it.
  io = 74,
  /// Somebody else holds the lock, or waiting for it took too long.
  busy = 75,
  lost = 76,
  denied = 77,
  stale_token = 78,
  version_conflict = 79,
  /// The command to run exists and cannot be executed.
  cannot_execute = 126,
  command_not_found = 127,
};

constexpr int to_int(ExitCode code) { return static_cast<int>(code); }

ExitCode exit_code_of(Errc code) noexcept;

/// 126 or 127, from the errno of a failed exec.
ExitCode exit_code_of_exec(int error) noexcept;

/// What a shell reports for a process ended by `signal`.
constexpr int exit_code_of_signal(int signal) { return 128 + signal; }

/// What a shell reports for a status given by waitpid(2).
int exit_code_of_wait(int wait_status) noexcept;

}  // namespace holdfast::cli
