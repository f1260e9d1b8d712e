// What `holdfast run` was asked to do.

#pragma once

#include <string>
#include <vector>

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
};

}  // namespace holdfast::cli
