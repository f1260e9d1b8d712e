// What `run` tells others of its lock, where --metrics, --log and --measure ask for it.

#pragma once

#include <memory>
#include <string>

#include "holdfast/lock_times.h"
#include "holdfast/metrics.h"
#include "holdfast/result.h"

namespace holdfast::cli {

class RunReport {
 public:
  struct Wishes {
    /// Empty: not asked for.
    std::string metrics_path{};
    std::string log_path{};
    /// Whether to leave the times at the engine, for `advise`.
    bool measure{false};
  };

  /// io_error, denied, no_space: the log cannot be opened, or the file of metrics not be written.
  /// invalid_argument: that is no plain file.
  static Result<RunReport> open(const Wishes& wishes);

  /// The client as the run shall use it.
  Client observe(Client client) const;

  /// After a release that the engine has answered: leaves the times there, if it takes them.
  void leave_times(Client& client) const;

  /// Adds what was counted to the file of metrics. Errors as add_to_metrics_file().
  Result<void> finish() const;

 private:
  std::string metrics_path_;
  /// Empty: not asked for.
  std::shared_ptr<Metrics> metrics_;
  std::shared_ptr<Observer> log_;
  std::shared_ptr<TimesRecorder> times_;
};

}  // namespace holdfast::cli
