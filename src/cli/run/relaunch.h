// Begins this command anew, as it was begun, in the same process.

#pragma once

#include <csignal>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "holdfast/result.h"

namespace holdfast::cli {

/// Made before a run, keeps what the run changes for the whole process: its standard streams, and
/// how it takes signals.
class Relaunch {
 public:
  /// io_error: the operating system does not tell how the command was begun.
  static Result<Relaunch> prepare();

  /// Whether this process was begun by begin_anew().
  bool is_repetition() const { return repetition_; }

  /// Executes the command again after a pause that a signal ends, and the process with it. Returns
  /// only when that failed: io_error. No thread may be left.
  Error begin_anew(int pause_ms) const;

 private:
  std::vector<std::string> words_;
  UniqueFd input_;
  UniqueFd output_;
  sigset_t signal_mask_{};
  sighandler_t on_broken_pipe_{SIG_DFL};
  bool repetition_{false};
};

}  // namespace holdfast::cli
