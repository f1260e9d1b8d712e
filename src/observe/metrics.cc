#include "holdfast/metrics.h"

#include "observe/registry.h"
#include "observe/replace_file.h"

namespace holdfast {

Metrics::Metrics(const MetricsOptions& options)
    : registry_{std::make_unique<observe::Registry>(options)},
      each_event_{options.locks == LockLabels::by_name} {}
Metrics::~Metrics() = default;

observe::Registry* observe::Registry::of(Observer& observer) {
  auto* const metrics = dynamic_cast<Metrics*>(&observer);
  return metrics == nullptr || metrics->each_event_ ? nullptr : metrics->registry_.get();
}

void Metrics::observe(const Event& event) noexcept { registry_->count(event); }

std::string Metrics::prometheus() const { return observe::to_prometheus(registry_->series()); }

Result<void> Metrics::write_file(const std::string& path) const {
  return observe::replace_file(path, prometheus());
}

}  // namespace holdfast
