#include "cli/run/run_report.h"

#include <filesystem>
#include <utility>

#include "cli/run/metrics_file.h"

namespace holdfast::cli {
namespace {

/// The file is replaced as a whole, which would put an end to a device, a pipe or a link.
Result<void> check_metrics_path(const std::string& path) {
  std::error_code ignored;
  const auto there = std::filesystem::symlink_status(path, ignored);
  if (!std::filesystem::exists(there) || std::filesystem::is_regular_file(there)) return {};
  return Unexpected{Error{Errc::invalid_argument,
                          "--metrics: " + path + " is no plain file",
                          "name a file of its own, such as one for Prometheus' collector"}};
}

}  // namespace

Result<RunReport> RunReport::open(const Wishes& wishes) {
  if (auto good = check_metrics_path(wishes.metrics_path); !good) return Unexpected{good.error()};
  RunReport report;
  report.metrics_path_ = wishes.metrics_path;
  if (!wishes.metrics_path.empty()) report.metrics_ = std::make_shared<Metrics>();
  if (wishes.measure) report.times_ = std::make_shared<TimesRecorder>();
  if (wishes.log_path.empty()) return report;
  auto log = json_log(wishes.log_path);
  if (!log) return Unexpected{std::move(log).error()};
  report.log_ = std::move(*log);
  return report;
}

Client RunReport::observe(Client client) const {
  if (metrics_) client = observed(client, metrics_);
  if (log_) client = observed(client, log_);
  if (times_) client = observed(client, times_);
  return client;
}

void RunReport::leave_times(Client& client) const {
  // The run was good with or without its times.
  if (times_) static_cast<void>(times_->flush(client));
}

Result<void> RunReport::finish() const {
  if (!metrics_) return {};
  return add_to_metrics_file(metrics_path_, metrics_->prometheus());
}

}  // namespace holdfast::cli
