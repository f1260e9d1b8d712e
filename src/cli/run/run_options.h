// What `holdfast run` was asked to do.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/console.h"
#include "holdfast/client.h"
#include "holdfast/options.h"

namespace holdfast::cli {

struct RunOptions {
  std::string engine;
  std::string name;
  /// Its views point into storage that outlives the run.
  AcquireOptions acquire;
  /// Between TERM and KILL, where the lease leaves that much time.
  Millis grace{5000};
  /// -1: none.
  int status_fd{-1};
  std::vector<std::string> program;
  /// What to say when the lock was not granted.
  std::function<Error(const AcquireError&)> explain;
  /// With JSON, nothing is said to people while waiting.
  Format format{Format::human};
};

}  // namespace holdfast::cli
