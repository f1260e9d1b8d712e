// Counters and histograms of a client's locks, in Prometheus' text format.
//
//     auto metrics = std::make_shared<holdfast::Metrics>();
//     auto client = holdfast::observed(*plain, metrics);
//     …
//     respond(metrics->prometheus());
//
// holdfast_acquisitions_total{contended}, holdfast_refusals_total{reason},
// holdfast_renewals_total{result}, holdfast_jeopardy_total, holdfast_losses_total{reason},
// holdfast_releases_total{outcome}, holdfast_takeovers_total, holdfast_stale_refusals_total,
// holdfast_conflicts_total, holdfast_leases; histograms holdfast_wait_seconds,
// holdfast_hold_seconds and holdfast_hand_over_seconds.

#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "holdfast/observer.h"
#include "holdfast/result.h"

namespace holdfast {

/// Not for use by programs.
namespace observe {
class Registry;
}

enum class LockLabels : std::uint8_t {
  /// Every lock in the same series.
  none,
  /// A label `lock` with the name. Each name is a dozen series and more for as long as the process
  /// lives; those beyond MetricsOptions::names_max share the name "other".
  by_name,
};

struct MetricsOptions {
  LockLabels locks = LockLabels::none;
  std::size_t names_max = 1000;
};

/// Thread safety: any thread. Counting takes no lock, unless labels by name are asked for.
class Metrics final : public Observer {
 public:
  explicit Metrics(const MetricsOptions& options = {});
  ~Metrics() override;
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  void observe(const Event& event) noexcept override;

  /// What was counted so far, as Prometheus reads it (text format 0.0.4).
  std::string prometheus() const;

  /// Puts prometheus() in the place of a file in one step, as Prometheus' text-file collector wants
  /// it. io_error, denied, no_space: the file is as it was.
  Result<void> write_file(const std::string& path) const;

 private:
  friend class observe::Registry;

  std::unique_ptr<observe::Registry> registry_;
  bool each_event_;
};

}  // namespace holdfast
