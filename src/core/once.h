// The decisions of Store::once(), and what it stores.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/store_backend.h"
#include "holdfast/client.h"

namespace holdfast::core {

/// The lock a runner holds.
std::string once_lock(std::string_view key);

/// invalid_argument: the key is too long with the lock's prefix, or an option is out of range.
Result<void> check_once(std::string_view key, const OnceOptions& options);

/// The result as it is stored, and back. Empty: it is not one.
std::string encode_once(const OnceResult& result);
std::optional<OnceResult> decode_once(std::string_view bytes);

// The steps of a runner, in this order.
StoreRequest once_look(std::string_view key);
StoreRequest once_open(std::string_view key, const Holder& runner);
StoreRequest once_read(std::string_view key, const Holder& runner);
/// invalid_argument: the result is too long to be stored.
Result<StoreRequest, StoreError> once_write(std::string_view key,
                                            const Holder& runner,
                                            const OnceResult& result,
                                            const OnceOptions& options);

/// Instead of once_write(), when the result is not to be kept: lets the store forget the runner
/// after the time it would have kept the result. Whether that is done matters to nobody but the
/// store's size.
StoreRequest once_forget(std::string_view key, const Holder& runner, const OnceOptions& options);

enum class Keep { yes, no };
/// Whether a result is stored for later callers.
Keep keeps(const OnceResult& result, const OnceOptions& options);

/// Empty: nothing is stored. corrupt: it is not a result.
Result<std::optional<OnceResult>, StoreError> stored_result(StoreResult reply);

/// Locks out whoever ran it before, and looks whether that one had finished.
Result<std::optional<OnceResult>, StoreError> find_result(StoreBackend& store,
                                                          std::string_view key,
                                                          const Holder& runner);

/// Performs once_write(). It carries its sequence: repeating it is safe, and settles what became of
/// one that was not answered.
Result<void, StoreError> keep_result(StoreBackend& store, const StoreRequest& write);

/// Who runs: the holder of the key's lock, by its lease's sequencer.
Result<Holder, StoreError> once_runner(std::string_view sequencer);

/// The course of one call, over however many attempts it takes.
class OnceCourse {
 public:
  OnceCourse(std::string_view key, const OnceOptions& options, TimePoint begin)
      : key_{key}, options_{options}, begin_{begin} {}

  /// For the next attempt to become the runner.
  AcquireOptions next_attempt(TimePoint now) const;

  /// What the caller is told who did not become the runner.
  StoreError not_the_runner(AcquireError error) const;

  // A step of the runner was refused: what the caller is told; nothing: another attempt may help.
  std::optional<StoreError> refused_at_open(StoreError error);
  std::optional<StoreError> refused_at_write(StoreError error);

 private:
  std::string key_;
  OnceOptions options_;
  TimePoint begin_;
  int refusals_{0};
  bool overtaken_{false};
};

}  // namespace holdfast::core
