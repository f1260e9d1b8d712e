// What Metrics has counted: by thread, or by the name of the lock.
//
// Thread safety: any thread. Counting by thread takes no lock.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "holdfast/metrics.h"
#include "observe/counts.h"
#include "observe/prometheus.h"
#include "observe/shard.h"

namespace holdfast::observe {

class Registry {
 public:
  explicit Registry(const MetricsOptions& options);

  /// Of those that only count. Empty: each event is needed.
  static Registry* of(Observer& observer);

  void count(const Event& event) noexcept;

  /// A grant without a wait, and a release of what was not timed: the same as their events, for a
  /// fraction of the time.
  void count_quick_grant() noexcept {
    if (Counts* const counts = own()) counts->add_quick_grant();
  }
  void count_quick_release() noexcept {
    if (Counts* const counts = own()) counts->add_quick_release();
  }

  std::vector<Series> series() const;

 private:
  /// Of this thread. Empty: it is ending.
  Counts* own() noexcept { return last_used.registry == id_ ? last_used.counts : look_for_own(); }
  Counts* look_for_own() noexcept;
  std::shared_ptr<Shard> take_shard();
  void count_by_name(const Event& event) noexcept;

  const MetricsOptions options_;
  const std::uint64_t id_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Shard>> shards_;
  std::map<std::string, std::unique_ptr<Counts>, std::less<>> names_;
};

}  // namespace holdfast::observe
