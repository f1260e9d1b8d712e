// Answer: where a thread waits for what a task of an Env finds out.
//
// Thread safety: any thread. Lifetime: shared by those who wait and the task.

#pragma once

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "holdfast/clock.h"

namespace holdfast::core {

template <class T>
class Answer {
 public:
  /// The first value stays; later ones are without effect.
  void set(T value) {
    {
      const std::lock_guard lock{mutex_};
      if (value_) return;
      value_.emplace(std::move(value));
    }
    known_.notify_all();
  }

  /// Waits for the value and takes it away. For a single reader.
  T take() {
    std::unique_lock lock{mutex_};
    known_.wait(lock, [&] { return value_.has_value(); });
    return std::move(*value_);
  }

  /// Waits for the value until `limit`. Empty: it did not come.
  std::optional<T> get(TimePoint limit) {
    std::unique_lock lock{mutex_};
    const Duration patience = std::max(limit - BootClock::now(), Duration{0});
    if (!known_.wait_for(lock, patience, [&] { return value_.has_value(); })) return std::nullopt;
    return value_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable known_;
  std::optional<T> value_;
};

/// Shared by everything that is under way; when the last share goes, it says so.
class UnderWay {
 public:
  struct Over {};

  explicit UnderWay(std::shared_ptr<Answer<Over>> over) : over_{std::move(over)} {}
  ~UnderWay() { over_->set(Over{}); }
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;

 private:
  std::shared_ptr<Answer<Over>> over_;
};

}  // namespace holdfast::core
