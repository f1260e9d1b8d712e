// What is kept of one lock's times: two sketches, and when they were made.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "holdfast/lock_times.h"
#include "observe/duration_sketch.h"

namespace holdfast::observe {

struct TimesRecord {
  DurationSketch hold;
  DurationSketch wait;
  std::uint64_t contended{0};
  /// Zero: nothing was added yet.
  std::int64_t since_ms{0};
  std::int64_t until_ms{0};

  /// As of `now_ms`, by the wall clock.
  void add(const Event& event, std::int64_t now_ms);
  /// In any order.
  void merge(const TimesRecord& other);

  std::string encode() const;
  /// Empty when the bytes are something else.
  static std::optional<TimesRecord> decode(std::string_view bytes);

  LockTimes summary() const;

  friend bool operator==(const TimesRecord&, const TimesRecord&) = default;
};

}  // namespace holdfast::observe
