#include <condition_variable>
#include <mutex>

#include "core/update.h"
#include "holdfast/store.h"

namespace holdfast {
namespace {

/// Whether the pause ended by itself.
bool pause(Duration duration, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock{mutex};
  never.wait_for(lock, stop, duration, [] { return false; });
  return !stop.stop_requested();
}

}  // namespace

Result<UpdateReport, StoreError> Store::update(std::string_view key,
                                               const Compute& compute,
                                               const UpdateOptions& options,
                                               std::stop_token stop) {
  if (auto good = core::check_update(options); !good) return Unexpected{StoreError{good.error()}};
  UpdateReport report;
  while (!stop.stop_requested()) {
    const auto entry = get(key);
    if (!entry) return Unexpected{entry.error()};
    const auto value = compute(*entry ? &**entry : nullptr);
    if (!value) return report;
    const Version seen = *entry ? (*entry)->version : Version::absent();
    const auto version = put(key, *value, {.if_version = seen});
    if (version) {
      report.version = *version;
      return report;
    }
    if (version.error().code != Errc::version_conflict) return Unexpected{version.error()};
    if (++report.conflicts == options.attempts) {
      return Unexpected{core::too_many_conflicts(options.attempts)};
    }
    if (!pause(core::update_pause(report.conflicts), stop)) break;
  }
  return Unexpected{StoreError{Errc::cancelled, "the update was cancelled"}};
}

}  // namespace holdfast
