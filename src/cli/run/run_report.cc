#include "cli/run/run_report.h"

#include <utility>

#include "cli/run/metrics_file.h"

namespace holdfast::cli {
namespace {

Result<void> check_metrics_path(const std::string& path) {
  if (path.empty()) return {};
  auto good = check_metrics_file(path);
  if (!good) good.error().message.insert(0, "--metrics: ");
  return good;
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
