// What `holdfast run` was asked to do.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "cli/console.h"
#include "cli/run/run_report.h"
#include "holdfast/client.h"
#include "holdfast/multi_lock.h"
#include "holdfast/options.h"

namespace holdfast::cli {

/// What becomes of the interval of a run that failed.
enum class FailedRun : std::uint8_t {
  /// It stays: the program is not run again before it is over.
  counts,
  /// It is given back: the program may be run again at once.
  may_repeat,
};

struct RunOptions {
  std::string engine;
  /// As typed, each once; at least one.
  std::vector<std::string> names;
  /// Its views point into storage that outlives the run.
  AcquireOptions acquire;
  /// Between TERM and KILL, where the lease leaves that much time.
  Millis grace{5000};
  /// -1: none.
  int status_fd{-1};
  std::vector<std::string> program;
  /// Takes the locks, on a thread that may block. Empty: as acquire_all() does.
  std::function<Result<MultiLease, AcquireError>(Client& client, std::stop_token stop)> take{};
  /// Once it is held: calls back once when it is to be given up for another, who is named, until
  /// what it returns goes. Empty: nobody can ask for that.
  std::function<std::shared_ptr<void>(Client& client, std::function<void(const std::string&)>)>
      heed{};
  /// What to say when the lock was not granted.
  std::function<Error(const AcquireError&)> explain;
  /// The program is run at most once in so long, counted by the first name. Zero: whenever asked.
  Millis at_most_every{0};
  FailedRun on_failure{FailedRun::counts};
  RunReport report;
  /// With JSON, nothing is said to people while waiting.
  Format format{Format::human};

  /// All names, for messages.
  std::string title() const {
    std::string text = names.front();
    for (std::size_t i = 1; i < names.size(); ++i) text += ", " + names[i];
    return text;
  }
};

}  // namespace holdfast::cli
