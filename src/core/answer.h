// Answer: where a thread waits for what a task of an Env finds out.
//
// Thread safety: any thread. Lifetime: shared by those who wait and the task.

#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "base/awaited.h"

namespace holdfast::core {

template <class T>
class Answer : public Awaited {
 public:
  /// The first value stays; later ones are without effect.
  void set(T value) {
    make_known([&] { value_.emplace(std::move(value)); });
  }

  /// Waits for the value and takes it away. For a single reader.
  T take() {
    sleep_until(TimePoint::max());
    return std::move(*value_);
  }

  /// Waits for the value until `limit`. Empty: it did not come.
  std::optional<T> get(TimePoint limit) { return sleep_until(limit) ? value_ : std::nullopt; }

 private:
  /// Not changed once it is known.
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
